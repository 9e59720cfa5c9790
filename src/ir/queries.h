#pragma once

#include <string_view>

#include "ir/model.h"

namespace assay::ir {

// An operand; invalid where it is left out or there are not so many.
inline ValueId operand(const Model& model, NodeId node, uint32_t index) {
  const Node& facts = model[node];
  return index < facts.operands.size() ? facts.operands[index].value : ValueId{};
}

// A result; invalid likewise.
inline ValueId result(const Model& model, NodeId node, uint32_t index = 0) {
  const Node& facts = model[node];
  return index < facts.results.size() ? facts.results[index] : ValueId{};
}

// The node that computes the value; invalid for other values, and for none.
inline NodeId producer(const Model& model, ValueId value) { return value ? model[value].producer : NodeId{}; }

// True for a node of ai.onnx with that operator.
inline bool is_op(const Model& model, NodeId node, std::string_view op) {
  return model[node].domain == kEmpty && model.text(model[node].op) == op;
}

// True for a node that holds a constant: not an initializer, but used as one.
bool is_constant_node(const Model& model, NodeId node);

// True if the value is an output of any graph.
inline bool is_output(const Model& model, ValueId value) {
  for (const Use& use : uses(model, value)) {
    if (model[use.user].is_outputs) return true;
  }
  return false;
}

// True if an attribute is only known when the enclosing function is called.
inline bool has_references(const Node& node) {
  for (const Attribute& attribute : node.attributes) {
    if (attribute.is_reference()) return true;
  }
  return false;
}

// True if constants of this graph can be initializers: the body of a function holds them as nodes.
inline bool has_initializers(const Model& model, GraphId graph) {
  return graph == model.main_graph() || model[graph].parent.valid();
}

}  // namespace assay::ir
