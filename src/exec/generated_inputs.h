#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "exec/backend.h"

namespace assay::exec {

// A shape for inputs whose name matches a wildcard; -1: as the model says.
struct InputShape {
  std::string pattern;
  tensor::Shape dims;
};

struct GenerateOptions {
  uint64_t seed = 1;
  std::vector<InputShape> shapes;
  uint64_t max_bytes = 0;  // of all inputs together; 0: what the machine has
};

// Inputs of the main graph that a caller must give: those without a default.
std::vector<ir::ValueId> required_inputs(const ir::Model& model);

// One set of inputs: floats in [0, 1), integers 0 or 1, booleans, in the order of the model's inputs from one stream of
// NumPy. Dims that nothing fixes are 1, which `findings` says. Error (unsupported) for inputs that are no tensors,
// (usage) for shapes that do not fit, (limit) before more memory is taken than allowed.
std::vector<Feed> generate_inputs(const ir::Model& model, const GenerateOptions& options, Diagnostics& findings);

}  // namespace assay::exec
