#pragma once

#include "ir/edit.h"

namespace assay::ir {

// A tensor that becomes a value of a graph.
struct NewConstant {
  GraphId graph;
  Symbol name;
  tensor::Tensor tensor;
  NodeId before = {};  // of a Constant node; invalid: at the end
};

// The place of a Constant node.
struct ConstantPlace {
  GraphId graph;
  Symbol name;         // of the result
  NodeId before = {};  // invalid: at the end
};

ValueId add_initializer(Edit& edit, NewConstant constant);
// Adds the constant as a Constant node, which may stand in any graph.
NodeId add_constant_node(Edit& edit, NewConstant constant);
// Adds a Constant node that holds an attribute.
NodeId add_constant_node(Edit& edit, const ConstantPlace& place, const Attribute& held);
// Adds the constant as an initializer, or as a Constant node in functions, which have no initializers.
ValueId add_constant(Edit& edit, NewConstant constant);
// An attribute that holds the tensor.
Attribute tensor_attribute(Edit& edit, std::string_view name, tensor::Tensor tensor);
// Removes an initializer or a Constant node that nothing uses any more; inputs stay.
void drop_unused(Edit& edit, ValueId constant);

}  // namespace assay::ir
