#pragma once

#include <string>

#include "results/lint_report.h"

namespace assay::report {

// One JSON object of the schema assay/check-lint/1; `summary` and `lint_entries` are as in the peer's report.
// `as_there`: entries have the peer's fields only.
std::string lint_json(const results::LintReport& report, bool as_there = false);

// Levels and sources as the peer has them: what only a run shows is told by ONNX Runtime, what breaks the rules of ONNX
// by its checker, and an operator of a domain that nobody knows is no fault of the model. What is only worth knowing,
// and outputs without a rank, are not told.
void tell_as_there(results::LintReport& report);

}  // namespace assay::report
