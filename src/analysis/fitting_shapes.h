#pragma once

#include <vector>

#include "exec/generated_inputs.h"
#include "ops/interpreter.h"

namespace assay::analysis {

// Shapes for the inputs of which neither the model nor `options` fix all dims, with which the model runs, as far as a
// bounded search finds them: open dims are 1 where that goes, otherwise sizes that nodes ask for. Dims of one name have
// one size; first dims, mostly batches, change last. Empty if no dim is open.
std::vector<exec::InputShape> fitting_shapes(const ir::Model& model, const exec::GenerateOptions& options,
                                             const ops::InterpreterOptions& limits);

}  // namespace assay::analysis
