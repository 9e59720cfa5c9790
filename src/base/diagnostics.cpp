#include "base/diagnostics.h"

#include <utility>

namespace assay {

void Diagnostics::add(Severity severity, std::string_view code, std::string node, std::string message) {
  if (severity == Severity::error) ++errors_;
  if (all_.size() >= cap_) {
    ++dropped_;
    return;
  }
  all_.push_back({severity, code, std::move(node), std::move(message)});
}

}  // namespace assay
