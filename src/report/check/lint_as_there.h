#pragma once

#include "results/lint_report.h"

namespace assay::report {

// Levels and sources as the peer has them: what only a run shows is told by ONNX Runtime, what breaks the rules of ONNX
// by its checker, and an operator of a domain that nobody knows is no fault of the model. What is only worth knowing,
// and outputs without a rank, are not told.
void tell_as_there(results::LintReport& report);

}  // namespace assay::report
