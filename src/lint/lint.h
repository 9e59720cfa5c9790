#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "ir/model.h"
#include "ops/inference.h"
#include "ops/interpreter.h"
#include "results/lint_report.h"

namespace assay::lint {

// Data of the run, and what of it is not the user's.
struct RunInputs {
  std::vector<ops::InputDatum> data;         // for every input
  ops::InputTypes given;                     // with shapes that the user chose
  std::vector<ir::ValueId> with_made_shape;  // inputs whose shapes the user did not choose, where the model does not
  bool has_made_values = false;
};

// True if the model can be walked and run as a graph, whatever else is wrong.
bool is_sound(const Diagnostics& load_findings);

// Runs all checks over a model. Without `inputs` nothing is run.
results::LintReport lint_model(const ir::Model& model, const Diagnostics& load_findings,
                               const std::optional<RunInputs>& inputs, const ops::InterpreterOptions& limits);

}  // namespace assay::lint
