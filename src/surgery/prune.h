#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "ir/model.h"
#include "results/sparsity.h"

namespace assay::surgery {

// A weight that was made 2:4 sparse.
struct PrunedWeight {
  std::string name;
  int64_t axis;
  bool was_sparse;  // already: nothing was changed
};

// Makes all eligible float weights 2:4 sparse along the axes that are summed over: of 4 consecutive elements the two
// smallest in magnitude become zero. The rest of the model is unchanged.
std::vector<PrunedWeight> prune(ir::Model& model, std::vector<results::SkippedWeight>& skipped);

// The elements of a dense float tensor (float32, float16, bfloat16) made 2:4 sparse along one axis, a multiple of 4
// long.
tensor::Tensor pruned(const tensor::Tensor& tensor, int64_t axis);

// Nodes by their operators, and by their names or those of their results, which may have wildcards.
struct NodeChoice {
  std::vector<std::string> op_types;
  std::vector<std::string> names;
};

// Removes nodes, also in bodies and functions; users of a node's result read its first input instead. Returns the
// number of nodes. Error (usage) if an operator or name matches none, if another result of a node is used, or if the
// types of first input and result differ; a wildcard that matches nothing is a finding.
size_t remove_nodes(ir::Model& model, const NodeChoice& choice, Diagnostics& findings);

}  // namespace assay::surgery
