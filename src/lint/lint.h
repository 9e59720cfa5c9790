#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "ir/model.h"
#include "ops/interpreter.h"
#include "results/lint_report.h"

namespace assay::lint {

// Runs all checks over a model. `inputs`: data for its inputs; without them the model is not run. The model's tables
// of dims and types grow; it is not edited otherwise.
results::LintReport lint_model(ir::Model& model, const Diagnostics& load_findings,
                               const std::optional<std::vector<ops::InputDatum>>& inputs,
                               const ops::InterpreterOptions& limits);

}  // namespace assay::lint
