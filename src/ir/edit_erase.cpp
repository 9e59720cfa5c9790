#include <algorithm>
#include <utility>

#include "ir/edit.h"

namespace assay::ir {

void Edit::erase(NodeId id) {
  for (const ValueId result : model_.nodes_[id].results) {
    ASSAY_CHECK(!result || !model_.values_[result].first_use);
  }
  unlink(id);
  kill(model_.bodies(model_.nodes_[id]));
  kill(id);
}

void Edit::erase(GraphId body) { kill(std::vector<GraphId>{body}); }

void Edit::erase_functions(std::span<const size_t> indices) {
  std::vector<Function> kept;
  size_t next = 0;
  for (size_t i = 0; i < model_.functions_.size(); ++i) {
    const bool is_erased = next < indices.size() && indices[next] == i;
    next += is_erased ? 1 : 0;
    if (is_erased) kill(std::vector<GraphId>{model_.functions_[i].body});
    if (!is_erased) kept.push_back(std::move(model_.functions_[i]));
  }
  ASSAY_CHECK(next == indices.size());
  model_.functions_ = std::move(kept);
  log_all();
  if (!importing_) model_.edited_ = true;
}

void Edit::kill(std::vector<GraphId> bodies) {
  while (!bodies.empty()) {
    const GraphId body = bodies.back();
    bodies.pop_back();
    const Graph& graph = model_.graphs_[body.index];
    for (const NodeId node : nodes(model_, body)) {
      for (const GraphId inner : model_.bodies(model_.nodes_[node])) bodies.push_back(inner);
      kill(node);
    }
    kill(graph.outputs_node);
    for (const ValueId id : graph.inputs) forget(model_.values_[id]);
    for (const ValueId id : graph.initializers) forget(model_.values_[id]);
  }
}

void Edit::kill(NodeId id) {
  Node& node = model_.nodes_[id];
  for (Use& use : node.operands) detach(use);
  for (const ValueId result : node.results) {
    if (result) forget(model_.values_[result]);
  }
  node.alive = false;
  log(id);
}

void Edit::forget(Value& value) {
  value.alive = false;
  if (value.source_name != kEmpty) model_.forgotten_names_.emplace(value.graph, value.source_name);
}

void Edit::erase(std::span<const ValueId> values) {
  std::vector<GraphId> graphs;
  for (const ValueId id : values) {
    Value& value = model_.values_[id];
    ASSAY_CHECK(value.alive && !value.producer && !value.first_use);
    forget(value);
    if (graphs.empty() || graphs.back() != value.graph) graphs.push_back(value.graph);
  }
  std::sort(graphs.begin(), graphs.end());
  graphs.erase(std::unique(graphs.begin(), graphs.end()), graphs.end());
  for (const GraphId id : graphs) {
    const auto is_dead = [&](ValueId value) { return !model_.values_[value].alive; };
    std::erase_if(model_.graphs_[id.index].inputs, is_dead);
    std::erase_if(model_.graphs_[id.index].initializers, is_dead);
    touch(id);
  }
}

}  // namespace assay::ir
