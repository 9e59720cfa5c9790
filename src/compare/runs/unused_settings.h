#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compare/options.h"
#include "results/run_report.h"

namespace assay::compare {

// A name in per-output thresholds and matches; it may be a wildcard.
struct NamedOutput {
  std::string_view setting;  // `atol`, by the name that requests have for it
  std::string name;
};
std::vector<NamedOutput> named_outputs(const CompareOptions& options);

// Those that no compared, missing or extra output has.
std::vector<NamedOutput> unused_settings(const results::RunReport& report, const CompareOptions& options);

}  // namespace assay::compare
