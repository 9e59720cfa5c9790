#include "ir/edit.h"

#include <algorithm>
#include <utility>

#include "ir/order.h"

namespace assay::ir {

Header& Edit::header() {
  if (!importing_) model_.header_dirty_ = model_.edited_ = true;
  log_all();
  return model_.header_;
}

GraphId Edit::add_graph(Symbol name) {
  const GraphId id{model_.graph_slots()};
  Graph& graph = model_.graphs_.emplace_back();
  graph.name = name;
  graph.outputs_node = model_.nodes_.add();
  Node& outputs = model_.nodes_[graph.outputs_node];
  outputs.graph = id;
  outputs.is_outputs = true;
  if (!importing_) graph.dirty = model_.edited_ = true;
  return id;
}

Graph& Edit::graph(GraphId id) {
  touch(id);
  return model_.graphs_[id.index];
}

size_t Edit::add_function(Function function) {
  if (!importing_) function.dirty = model_.edited_ = true;
  model_.functions_.push_back(std::move(function));
  log_all();
  return model_.functions_.size() - 1;
}

Function& Edit::function(size_t index) {
  if (!importing_) model_.functions_[index].dirty = model_.edited_ = true;
  log_all();
  return model_.functions_[index];
}

ValueId Edit::add_value(GraphId graph, Symbol name, ValueKind kind) {
  const ValueId id = model_.values_.add();
  Value& value = model_.values_[id];
  value.name = name;
  if (importing_) value.source_name = name;
  value.graph = graph;
  value.kind = kind;
  touch(graph);
  return id;
}

ValueId Edit::add_input(GraphId graph, Symbol name, TypeId type) {
  const ValueId id = add_value(graph, name, ValueKind::input);
  model_.values_[id].type = type;
  model_.graphs_[graph.index].inputs.push_back(id);
  log(id);
  return id;
}

ValueId Edit::add_initializer(GraphId graph, Symbol name, TensorId tensor) {
  const ValueId id = add_value(graph, name, ValueKind::initializer);
  model_.values_[id].constant = tensor;
  model_.graphs_[graph.index].initializers.push_back(id);
  return id;
}

ValueId Edit::add_undefined(GraphId graph, Symbol name) { return add_value(graph, name, ValueKind::undefined); }

TensorId Edit::add_tensor(TensorEntry entry) {
  const TensorId id = model_.tensors_.add();
  model_.tensors_[id] = std::move(entry);
  return id;
}

void Edit::set_default(ValueId input, TensorId tensor) {
  Value& value = model_.values_[input];
  ASSAY_CHECK(value.kind == ValueKind::input);
  if (!value.constant) model_.graphs_[value.graph.index].initializers.push_back(input);
  value.constant = tensor;
  log(input);
  touch(value.graph);
}

void Edit::set_tensor(TensorId id, tensor::Tensor tensor) {
  TensorEntry& entry = model_.tensors_[id];
  entry.tensor = std::move(tensor);
  entry.external_location = {};
  if (std::exchange(entry.sparse, nullptr)) entry.source = {};
  entry.stripped = false;
  entry.dirty = true;
  model_.edited_ = true;
  log_all();
}

void Edit::strip_tensor(TensorId id) {
  const tensor::Tensor& old = model_.tensors_[id].tensor;
  ASSAY_CHECK(!model_.tensors_[id].sparse);
  set_tensor(id, tensor::make_stripped(old.dtype(), old.shape()));
  model_.tensors_[id].stripped = true;
}

void Edit::set_doc(TensorId id, std::string_view doc) {
  TensorEntry& entry = model_.tensors_[id];
  entry.doc = keep(doc);
  entry.dirty = true;
  model_.edited_ = true;
}

NodeId Edit::add_node(GraphId graph, const NodeSpec& spec, NodeId before) {
  const NodeId id = model_.nodes_.add();
  Node& node = model_.nodes_[id];
  node.op = spec.op;
  node.domain = spec.domain;
  node.name = spec.name;
  node.overload = spec.overload;
  node.graph = graph;
  node.source = spec.source;
  node.results = {model_.arena_->allocate<ValueId>(spec.results.size()), spec.results.size()};
  for (uint32_t i = 0; i < spec.results.size(); ++i) {
    if (spec.results[i] == kEmpty) continue;
    node.results[i] = add_value(graph, spec.results[i], ValueKind::result);
    Value& value = model_.values_[node.results[i]];
    value.producer = id;
    value.index = i;
  }
  if (!spec.attributes.empty()) set_attributes(id, spec.attributes);
  set_operands(id, spec.operands);
  link(id, before);
  return id;
}

void Edit::move_before(NodeId node, NodeId before) {
  if (node == before) return;
  unlink(node);
  link(node, before);
  log(node);
}

void Edit::order_nodes(const GraphOrder& order) {
  Graph& graph = model_.graphs_[order.graph.index];
  ASSAY_CHECK(order.nodes.size() == graph.node_count);
  graph.first = graph.last = NodeId{};
  graph.node_count = 0;
  for (const NodeId node : order.nodes) link(node, {});
  log_all();
}

void Edit::set_operand(NodeId node, uint32_t index, ValueId value) {
  ASSAY_CHECK(index < model_.nodes_[node].operands.size());
  Use& use = model_.nodes_[node].operands[index];
  if (use.value == value) return;
  detach(use);
  use.value = value;
  attach(use);
  touch(node);
}

void Edit::set_operands(NodeId id, std::span<const ValueId> values) {
  Node& node = model_.nodes_[id];
  for (Use& use : node.operands) detach(use);
  if (values.size() > node.operands.size()) {
    node.operands = {model_.arena_->allocate<Use>(values.size()), values.size()};
  }
  node.operands = node.operands.first(values.size());
  for (uint32_t i = 0; i < values.size(); ++i) {
    node.operands[i] = Use{values[i], id, i};
    attach(node.operands[i]);
  }
  touch(id);
}

void Edit::set_outputs(GraphId graph, std::span<const ValueId> values) {
  set_operands(model_.graphs_[graph.index].outputs_node, values);
}

void Edit::order_inputs(GraphId graph, std::span<const ValueId> inputs) {
  std::vector<ValueId>& old = model_.graphs_[graph.index].inputs;
  ASSAY_CHECK(std::is_permutation(old.begin(), old.end(), inputs.begin(), inputs.end()));
  old.assign(inputs.begin(), inputs.end());
  touch(graph);
}

void Edit::replace_uses(ValueId old_value, ValueId new_value) {
  ASSAY_CHECK(old_value != new_value);
  while (const Use* use = model_.values_[old_value].first_use) set_operand(use->user, use->index, new_value);
}

void Edit::set_op(NodeId node, Symbol op, Symbol domain) {
  model_.nodes_[node].op = op;
  model_.nodes_[node].domain = domain;
  touch(node);
}

void Edit::rename(NodeId node, std::string_view name) {
  model_.nodes_[node].name = keep(name);
  touch(node);
}

void Edit::rename(ValueId id, Symbol name) {
  Value& value = model_.values_[id];
  if (value.name == name) return;
  value.name = name;
  if (value.producer) touch(value.producer);
  if (value.constant) model_.tensors_[value.constant].renamed = true;
  touch_users(id);
  touch(value.graph);
}

void Edit::set_type(ValueId id, TypeId type) {
  Value& value = model_.values_[id];
  if (value.type == type) return;
  value.type = type;
  value.dirty = !importing_;
  log(id);
  touch(value.graph);
}

void Edit::link(NodeId id, NodeId before) {
  Node& node = model_.nodes_[id];
  ASSAY_CHECK(!before || model_.nodes_[before].graph == node.graph);
  Graph& graph = model_.graphs_[node.graph.index];
  node.next = before;
  node.previous = before ? model_.nodes_[before].previous : graph.last;
  (node.previous ? model_.nodes_[node.previous].next : graph.first) = id;
  (before ? model_.nodes_[before].previous : graph.last) = id;
  ++graph.node_count;
  assign_order(model_.nodes_, id);
  touch(node.graph);
}

void Edit::unlink(NodeId id) {
  Node& node = model_.nodes_[id];
  Graph& graph = model_.graphs_[node.graph.index];
  (node.previous ? model_.nodes_[node.previous].next : graph.first) = node.next;
  (node.next ? model_.nodes_[node.next].previous : graph.last) = node.previous;
  node.previous = node.next = NodeId{};
  --graph.node_count;
  touch(node.graph);
}

void Edit::attach(Use& use) {
  if (!use.value) return;
  Use*& first = model_.values_[use.value].first_use;
  use.previous = nullptr;
  use.next = first;
  if (first) first->previous = &use;
  first = &use;
}

void Edit::detach(Use& use) {
  if (!use.value) return;
  (use.previous ? use.previous->next : model_.values_[use.value].first_use) = use.next;
  if (use.next) use.next->previous = use.previous;
  use.previous = use.next = nullptr;
}

std::shared_ptr<EditLog> Edit::log_edits() {
  std::erase_if(logs_, [](const std::weak_ptr<EditLog>& log) { return log.expired(); });
  auto log = std::make_shared<EditLog>();
  logs_.push_back(log);
  return log;
}

void Edit::log(NodeId node) {
  for (const std::weak_ptr<EditLog>& log : logs_) {
    if (const std::shared_ptr<EditLog> kept = log.lock()) kept->nodes.push_back(node);
  }
}

void Edit::log(ValueId value) {
  for (const std::weak_ptr<EditLog>& log : logs_) {
    if (const std::shared_ptr<EditLog> kept = log.lock()) kept->values.push_back(value);
  }
}

void Edit::log_all() {
  for (const std::weak_ptr<EditLog>& log : logs_) {
    if (const std::shared_ptr<EditLog> kept = log.lock()) kept->has_all = true;
  }
}

void Edit::touch(NodeId node) {
  if (importing_) return;
  log(node);
  model_.nodes_[node].dirty = true;
  touch(model_.nodes_[node].graph);
}

// An edited graph implies that everything above it is marked, so the walk upwards ends at the first marked one.
void Edit::touch(GraphId id) {
  if (importing_) return;
  model_.edited_ = true;
  while (id && !model_.graphs_[id.index].dirty) {
    Graph& graph = model_.graphs_[id.index];
    graph.dirty = true;
    if (!graph.parent) return;
    model_.nodes_[graph.parent].dirty = true;
    id = model_.nodes_[graph.parent].graph;
  }
}

void Edit::touch_users(ValueId value) {
  for (const Use& use : uses(model_, value)) touch(use.user);
}

}  // namespace assay::ir
