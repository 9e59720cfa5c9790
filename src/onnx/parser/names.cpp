#include "onnx/parser/names.h"

#include <fmt/core.h>

#include "base/text.h"

namespace assay::onnx {

using ir::GraphId;
using ir::NodeId;
using ir::Symbol;
using ir::TensorId;
using ir::TypeId;
using ir::ValueId;

void NameResolver::add_operands(NodeId node, std::span<const Symbol> names) {
  if (names.empty()) return;
  if (ranges_.size() <= node.index) ranges_.resize(node.index + 1);
  ranges_[node.index] = {names_.size(), names.size()};
  names_.insert(names_.end(), names.begin(), names.end());
}

NameResolver::Notes& NameResolver::notes(GraphId graph) {
  if (notes_.size() <= graph.index) notes_.resize(graph.index + 1);
  return notes_[graph.index];
}

void NameResolver::add_initializer(GraphId graph, Symbol name, TensorId tensor) {
  notes(graph).initializers.emplace_back(name, tensor);
}

void NameResolver::add_type(GraphId graph, Symbol name, TypeId type) { notes(graph).types.emplace_back(name, type); }

void NameResolver::resolve(GraphId graph) {
  const size_t mark = replaced_.size();
  visible_.resize(model_.symbols().size());
  define(graph);
  for (const auto& [name, type] : notes(graph).types) describe(graph, name, type);
  for (const NodeId node : ir::nodes(model_, graph)) {
    resolve_operands(node, graph);
    for (const GraphId body : model_.bodies(model_[node])) resolve(body);
  }
  resolve_operands(model_[graph].outputs_node, graph);
  for (; replaced_.size() > mark; replaced_.pop_back())
    visible_[replaced_.back().first.index] = replaced_.back().second;
}

void NameResolver::define(GraphId graph) {
  for (const ValueId input : model_[graph].inputs) bind(model_[input].name, input);
  for (const auto& [name, tensor] : notes(graph).initializers) define_initializer(graph, name, tensor);
  for (const NodeId node : ir::nodes(model_, graph)) {
    for (const ValueId result : model_[node].results) {
      if (result) bind(model_[result].name, result);
    }
  }
}

// An initializer that has the name of an input is the input's default.
void NameResolver::define_initializer(GraphId graph, Symbol name, TensorId tensor) {
  const ValueId known = lookup(name);
  if (known && model_[known].graph == graph && model_[known].kind == ir::ValueKind::input && !model_[known].constant) {
    edit_.set_default(known, tensor);
  } else {
    bind(name, edit_.add_initializer(graph, name, tensor));
  }
}

void NameResolver::describe(GraphId graph, Symbol name, TypeId type) {
  const ValueId value = lookup(name);
  if (!value || model_[value].graph != graph) return;
  const TypeId known = model_[value].type;
  if (!known) return edit_.set_type(value, type);
  if (model_.types().refines(known, type) || model_.types().refines(type, known)) return;
  const std::string label = printable(model_.text(name));
  findings_.warn("type_conflict", label, fmt::format("tensor `{}` is described with two types that differ", label));
}

void NameResolver::resolve_operands(NodeId node, GraphId graph) {
  if (node.index >= ranges_.size() || ranges_[node.index].count == 0) return;
  const Range range = ranges_[node.index];
  operands_.clear();
  for (size_t i = 0; i < range.count; ++i) operands_.push_back(find_or_add(names_[range.begin + i], graph));
  edit_.set_operands(node, operands_);
}

void NameResolver::bind(Symbol name, ValueId value) {
  if (name == ir::kEmpty) return;
  ValueId& slot = visible_[name.index];
  if (slot && model_[slot].graph == model_[value].graph) return;
  replaced_.emplace_back(name, slot);
  slot = value;
}

ValueId NameResolver::lookup(Symbol name) const { return name == ir::kEmpty ? ValueId{} : visible_[name.index]; }

ValueId NameResolver::find_or_add(Symbol name, GraphId graph) {
  if (name == ir::kEmpty) return {};
  const ValueId known = lookup(name);
  if (known) return known;
  const ValueId value = edit_.add_undefined(graph, name);
  bind(name, value);
  return value;
}

}  // namespace assay::onnx
