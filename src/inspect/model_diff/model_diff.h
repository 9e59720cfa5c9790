#pragma once

#include "inspect/model_diff/weight_diff.h"
#include "ir/model.h"
#include "results/model_diff.h"

namespace assay::inspect {

struct DiffOptions {
  Tolerance tolerance;
  bool ignore_names = false;  // of graphs, nodes, tensors and symbolic dims
};

// Compares structure and weights. Different names are differences unless they are ignored. These are not: another
// order of nodes, types of results that only one side states, weights that cannot be read on request.
results::ModelDiff diff_models(const ir::Model& a, const ir::Model& b, const DiffOptions& options);

}  // namespace assay::inspect
