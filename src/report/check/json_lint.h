#pragma once

#include <string>

#include "results/lint_report.h"

namespace assay::report {

// One JSON object of the schema assay/check-lint/1; `summary` and `lint_entries` are as in the peer's report.
std::string lint_json(const results::LintReport& report);

}  // namespace assay::report
