#pragma once

#include <string>

#include "base/diagnostics.h"
#include "ir/model.h"
#include "ops/interpreter.h"
#include "results/lint_report.h"

namespace assay::lint {

// Runs all checks over a model. `inputs`: data for its inputs, or none, then nothing is run. The model's tables of dims
// and types grow; it is not edited otherwise.
results::LintReport lint_model(ir::Model& model, const Diagnostics& load_findings,
                               std::span<const ops::InputDatum> inputs, const ops::InterpreterOptions& limits);

}  // namespace assay::lint
