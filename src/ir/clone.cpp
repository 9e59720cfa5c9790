#include "ir/clone.h"

#include <optional>

#include <fmt/format.h>

#include "ir/constants.h"
#include "ir/queries.h"

namespace assay::ir {

namespace {

// Copies of copies would have ever longer names: one of this length ends with a number instead.
constexpr size_t kLongestName = 400;

std::string joined(std::string_view prefix, std::string_view name, uint32_t number) {
  std::string text = fmt::format("{}_{}", prefix, name);
  if (text.size() <= kLongestName) return text;
  text.resize(kLongestName);
  return fmt::format("{}_{}", text, number);
}

}  // namespace

ValueId Cloner::mapped(ValueId from) const {
  const auto found = values_.find(from);
  return found == values_.end() ? from : found->second;
}

Symbol Cloner::fresh_name(std::string_view name) {
  const std::string base = joined(plan_.prefix, name, model_.value_slots());
  return model_.symbols().find(base) ? names_.next(edit_, base) : edit_.intern(base);
}

std::vector<NodeId> Cloner::copy_contents(GraphId from) {
  const GraphId target = model_[plan_.before].graph;
  std::vector<NodeId> made;
  copy_initializers({from, target}, made);
  for (const NodeId node : nodes(model_, from)) made.push_back(copy_node(node, target, plan_.before));
  while (!pending_.empty()) {
    const Body body = pending_.back();
    pending_.pop_back();
    copy_body(body);
  }
  return made;
}

// Copies a body. Values around it are mapped already.
void Cloner::copy_body(const Body& body) {
  for (const ValueId input : std::vector<ValueId>(model_[body.from].inputs)) {
    const Symbol name = fresh_name(model_.text(model_[input].name));
    const ValueId made = edit_.add_input(body.to, name, type_of(input));
    if (model_[input].constant) edit_.set_default(made, copy_tensor(model_[input].constant, name));
    map(input, made);
  }
  std::vector<NodeId> made;
  copy_initializers(body, made);
  for (const NodeId node : nodes(model_, body.from)) copy_node(node, body.to, {});
  std::vector<ValueId> outputs;
  for (const Use& use : model_.outputs(body.from)) outputs.push_back(mapped(use.value));
  edit_.set_outputs(body.to, outputs);
}

void Cloner::copy_initializers(const Body& body, std::vector<NodeId>& made) {
  const bool is_top = body.to == model_[plan_.before].graph;
  for (const ValueId value : std::vector<ValueId>(model_[body.from].initializers)) {
    if (model_[value].kind != ValueKind::initializer) continue;
    const Symbol name = fresh_name(model_.text(model_[value].name));
    const TensorId tensor = copy_tensor(model_[value].constant, name);
    if (is_top && !has_initializers(model_, body.to)) {
      made.push_back(add_constant(tensor, name));
      map(value, model_[made.back()].results[0]);
    } else {
      map(value, edit_.add_initializer(body.to, name, tensor));
    }
  }
}

NodeId Cloner::add_constant(TensorId tensor, Symbol name) {
  const bool is_sparse = model_[tensor].sparse != nullptr;
  const Attribute held = Attribute::of(edit_.intern(is_sparse ? "sparse_value" : "value"),
                                       is_sparse ? AttributeType::sparse_tensor : AttributeType::tensor, tensor);
  const NodeId made = add_constant_node(edit_, {model_[plan_.before].graph, name, plan_.before}, held);
  edit_.origins().merge(made, {});
  return made;
}

NodeId Cloner::copy_node(NodeId id, GraphId target, NodeId before) {
  const Node& node = model_[id];
  std::vector<ValueId> operands;
  for (const Use& use : node.operands) operands.push_back(use.value ? mapped(use.value) : ValueId{});
  while (!operands.empty() && !operands.back()) operands.pop_back();
  std::vector<Symbol> results;
  for (const ValueId value : node.results) {
    results.push_back(value ? fresh_name(model_.text(model_[value].name)) : kEmpty);
  }
  const std::vector<Attribute> attributes = copy_attributes(node);
  NodeSpec spec;
  spec.op = node.op;
  spec.domain = node.domain;
  spec.overload = node.overload;
  if (!node.name.empty()) spec.name = edit_.keep(joined(plan_.prefix, node.name, model_.node_slots()));
  spec.operands = operands;
  spec.results = results;
  spec.attributes = attributes;
  const NodeId made = edit_.add_node(target, spec, before);
  edit_.origins().merge(made, {id});
  for (size_t i = 0; i < results.size(); ++i) {
    if (!node.results[i]) continue;
    map(node.results[i], model_[made].results[i]);
    edit_.set_type(model_[made].results[i], type_of(node.results[i]));
  }
  return made;
}

std::vector<Attribute> Cloner::copy_attributes(const Node& node) {
  std::vector<Attribute> attributes;
  for (const Attribute& attribute : node.attributes) {
    if (!attribute.is_reference() || !plan_.bindings) {
      attributes.push_back(copy_attribute(attribute));
      continue;
    }
    const auto bound = plan_.bindings->find(attribute.reference_target());
    if (bound == plan_.bindings->end()) continue;  // given nowhere: the operator's default holds
    attributes.push_back(copy_attribute(Edit::renamed(bound->second, attribute.name())));
  }
  return attributes;
}

Attribute Cloner::copy_attribute(const Attribute& attribute) {
  if (attribute.is_reference()) return attribute;
  const Symbol name = attribute.name();
  if (attribute.holds_tensors()) {
    std::vector<TensorId> tensors;
    for (const TensorId id : attribute.tensors()) tensors.push_back(copy_tensor(id, {}));
    const bool is_list =
        attribute.type() == AttributeType::tensors || attribute.type() == AttributeType::sparse_tensors;
    if (!is_list) return Attribute::of(name, attribute.type(), tensors.front());
    return Attribute::list(name, attribute.type(), model_.arena().copy<TensorId>(tensors));
  }
  if (attribute.graphs().empty()) return attribute;
  std::vector<GraphId> graphs;
  for (const GraphId body : attribute.graphs()) graphs.push_back(copy_later(body));
  if (attribute.type() == AttributeType::graph) return Attribute::of(name, attribute.type(), graphs.front());
  return Attribute::list(name, attribute.type(), model_.arena().copy<GraphId>(graphs));
}

GraphId Cloner::copy_later(GraphId body) {
  const GraphId made = edit_.add_graph(model_[body].name);
  edit_.graph(made).doc = model_[body].doc;
  pending_.push_back({body, made});
  return made;
}

// Elements are shared. One of an attribute keeps its name.
TensorId Cloner::copy_tensor(TensorId id, Symbol name) {
  TensorEntry entry = model_[id];
  if (name) {
    entry.name = model_.text(name);
    entry.renamed = true;
  }
  return edit_.add_tensor(std::move(entry));
}

TypeId Cloner::type_of(ValueId value) const {
  const TypeId id = model_[value].type;
  if (!id || !plan_.drops_named_dims) return id;
  Type type = model_[id];
  if (type.element) return id;
  for (DimId& dim : type.dims) {
    if (!model_.dims().as_constant(dim)) dim = kUnknownDim;
  }
  return model_.types().intern(std::move(type));
}

}  // namespace assay::ir
