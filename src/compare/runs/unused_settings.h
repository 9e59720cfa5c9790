#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compare/options.h"
#include "results/run_report.h"

namespace assay::compare {

// A name in per-output thresholds and matches; it may be a wildcard.
struct NamedOutput {
  std::string_view setting;  // `atol`, as named in requests
  std::string name;
};
std::vector<NamedOutput> named_outputs(const CompareOptions& options);

// Names that match no compared, missing or extra output.
std::vector<NamedOutput> unused_settings(const results::RunReport& report, const CompareOptions& options);

}  // namespace assay::compare
