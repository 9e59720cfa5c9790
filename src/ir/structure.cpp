#include "base/check.h"
#include "ir/verify.h"

namespace assay::ir {
namespace {

void check_node(const Model& model, NodeId id) {
  const Node& node = model[id];
  ASSAY_CHECK(node.alive);
  for (uint32_t i = 0; i < node.operands.size(); ++i) {
    const Use& use = node.operands[i];
    ASSAY_CHECK(use.user == id && use.index == i);
    if (use.value) ASSAY_CHECK(model[use.value].alive);
  }
  for (uint32_t i = 0; i < node.results.size(); ++i) {
    if (!node.results[i]) continue;
    const Value& value = model[node.results[i]];
    ASSAY_CHECK(value.alive && value.producer == id && value.index == i && value.graph == node.graph);
  }
  for (const GraphId body : model.bodies(node)) ASSAY_CHECK(model[body].parent == id);
}

void check_definitions(const Model& model, GraphId id) {
  for (const ValueId input : model[id].inputs) {
    const Value& value = model[input];
    ASSAY_CHECK(value.alive && value.kind == ValueKind::input && value.graph == id);
  }
  for (const ValueId initializer : model[id].initializers) {
    const Value& value = model[initializer];
    const bool may_have_tensor = value.kind == ValueKind::initializer || value.kind == ValueKind::input;
    ASSAY_CHECK(value.alive && may_have_tensor && value.graph == id && value.constant);
  }
}

void check_list(const Model& model, GraphId id) {
  const Graph& graph = model[id];
  NodeId previous;
  uint32_t count = 0;
  for (const NodeId node : nodes(model, id)) {
    ASSAY_CHECK(model[node].graph == id && model[node].previous == previous);
    ASSAY_CHECK(!previous || model.is_before(previous, node));
    check_node(model, node);
    previous = node;
    ++count;
  }
  ASSAY_CHECK(graph.last == previous && graph.node_count == count);
}

void check_uses(const Model& model, ValueId id) {
  const Use* previous = nullptr;
  for (const Use& use : uses(model, id)) {
    ASSAY_CHECK(use.value == id && use.previous == previous && model[use.user].alive);
    ASSAY_CHECK(&model[use.user].operands[use.index] == &use);
    previous = &use;
  }
}

}  // namespace

void check_structure(const Model& model) {
  for (uint32_t i = 0; i < model.graph_slots(); ++i) {
    const Graph& graph = model[GraphId{i}];
    if (!model[graph.outputs_node].alive) continue;
    ASSAY_CHECK(!graph.parent || model[graph.parent].alive);
    check_definitions(model, GraphId{i});
    check_list(model, GraphId{i});
    check_node(model, graph.outputs_node);
  }
  for (uint32_t i = 0; i < model.value_slots(); ++i) {
    if (model[ValueId{i}].alive) check_uses(model, ValueId{i});
  }
}

}  // namespace assay::ir
