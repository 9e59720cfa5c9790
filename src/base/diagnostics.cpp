#include "base/diagnostics.h"

#include <utility>

namespace assay {

void Diagnostics::add(Diagnostic finding) {
  if (finding.severity == Severity::error) ++errors_;
  if (all_.size() >= cap_) {
    ++dropped_;
    return;
  }
  all_.push_back(std::move(finding));
}

}  // namespace assay
