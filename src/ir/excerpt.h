#pragma once

#include <map>
#include <vector>

#include "ir/model.h"

namespace assay::ir {

// Nodes of one graph that are to be a model of their own.
struct Excerpt {
  std::vector<NodeId> nodes;                    // in order
  std::vector<ValueId> inputs;                  // values from outside and inputs of the graph
  std::vector<ValueId> outputs;                 // of the nodes, or from outside
  std::map<ValueId, tensor::Tensor> constants;  // values from outside that always have these elements
};

// The values from outside that the nodes, or the bodies below them, use and that no initializer gives; in the order in
// which they are used.
std::vector<ValueId> outer_values(const Model& model, const std::vector<NodeId>& nodes);

// All nodes of a body. Its inputs come first, then what it uses from outside and no initializer gives.
Excerpt body_excerpt(const Model& model, GraphId body);

// A model of these nodes. It shares the elements of constants with the one that it is taken from, has its versions of
// operators and the functions that are called, and keeps names. Of types, dims are left out but for those of inputs.
Model make_excerpt(const Model& model, const Excerpt& excerpt);

}  // namespace assay::ir
