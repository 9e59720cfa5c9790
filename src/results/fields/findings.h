#pragma once

#include <string>

#include "base/diagnostics.h"
#include "results/fields/fields.h"

namespace assay::results {

inline constexpr std::string_view kSeverityWords[] = {"info", "warning", "error"};

template <>
struct Fields<Diagnostic> {
  static void of(auto& v, auto& finding) {
    v.word("level", finding.severity, kSeverityWords);
    v("code", finding.code);
    v("node", finding.node);
    v("message", finding.message);
    v.some("remedy", finding.remedy);
  }
};

}  // namespace assay::results
