#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/edit.h"
#include "ir/naming.h"

namespace assay::ir {

// The plan of copying the contents of a graph.
struct ClonePlan {
  NodeId before;       // the copies stand before this node, in its graph
  std::string prefix;  // values and nodes become `<prefix>_<name>`, with a number where that is taken
  // Attributes of a function, or references of the enclosing place, that replace references; nullptr: references stay
  // as they are.
  const std::map<Symbol, Attribute>* bindings = nullptr;
  // Forget named dims in types: in another place the names may stand for other sizes.
  bool drops_named_dims = false;
};

// Copies nodes, initializers and bodies of one graph to another place of the same model. Operands that are neither
// copied nor mapped stay what they are: captures. A copy stands for the nodes that the copied one stands for.
class Cloner {
 public:
  Cloner(Model& model, Edit& edit, const ClonePlan& plan) : model_(model), edit_(edit), plan_(plan) {}

  // Replaces a value of the copied graph, such as an input; an invalid one leaves operands out.
  void map(ValueId from, ValueId to) { values_[from] = to; }
  ValueId mapped(ValueId from) const;
  // Gives the nodes of the copy in order. Initializers are copied as Constant nodes where there are no initializers: in
  // functions.
  std::vector<NodeId> copy_contents(GraphId from);
  Symbol fresh_name(std::string_view name);

 private:
  struct Body {
    GraphId from;
    GraphId to;
  };

  void copy_body(const Body& body);
  void copy_initializers(const Body& body, std::vector<NodeId>& made);
  NodeId copy_node(NodeId id, GraphId target, NodeId before);
  NodeId add_constant(TensorId tensor, Symbol name);
  std::vector<Attribute> copy_attributes(const Node& node);
  Attribute copy_attribute(const Attribute& attribute);
  TensorId copy_tensor(TensorId id, Symbol name);
  GraphId copy_later(GraphId body);
  TypeId type_of(ValueId value) const;

  Model& model_;
  Edit& edit_;
  const ClonePlan& plan_;
  std::unordered_map<ValueId, ValueId> values_;
  std::vector<Body> pending_;
  NameCounter names_;
};

}  // namespace assay::ir
