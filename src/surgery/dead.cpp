#include "surgery/dead.h"

#include <vector>

namespace assay::surgery {
namespace {

using ir::GraphId;
using ir::NodeId;
using ir::ValueId;

// Walks back from the outputs of the main graph; the outputs of a body are needed where its node is.
class Sweep {
 public:
  Sweep(ir::Model& model, ir::Edit& edit)
      : model_(model), edit_(edit), live_(model.node_slots()), live_graphs_(model.graph_slots()) {}

  void run() {
    need_graph(model_.main_graph());
    while (!pending_.empty()) {
      const NodeId node = pending_.back();
      pending_.pop_back();
      visit(node);
    }
    detach_dead();
    erase_dead_nodes();
    erase_dead_initializers();
  }

 private:
  void need(NodeId node) {
    if (!node || live_[node.index]) return;
    live_[node.index] = true;
    pending_.push_back(node);
  }

  void need_graph(GraphId graph) {
    live_graphs_[graph.index] = true;
    need(model_[graph].outputs_node);
  }

  void visit(NodeId id) {
    const ir::Node& node = model_[id];
    for (const ir::Use& use : node.operands) {
      if (use.value) need(model_[use.value].producer);
    }
    for (const GraphId body : model_.bodies(node)) need_graph(body);
  }

  // Nodes of functions are not touched.
  bool is_dead(NodeId id) const {
    if (!model_[id].alive || live_[id.index]) return false;
    GraphId graph = model_[id].graph;
    while (graph && !live_graphs_[graph.index]) graph = model_.enclosing(graph);
    return graph.valid();
  }

  // Detaches dead nodes, which then use nothing any more and can be erased in any order.
  void detach_dead() {
    for (uint32_t i = 0; i < live_.size(); ++i) {
      if (!is_dead(NodeId{i})) continue;
      dead_.push_back(NodeId{i});
      edit_.set_operands(NodeId{i}, {});
    }
  }

  void erase_dead_nodes() {
    for (const NodeId id : dead_) {
      const bool is_inner = !live_graphs_[model_[id].graph.index];  // dies with its body
      if (!is_inner) edit_.erase(id);
    }
  }

  void erase_dead_initializers() {
    std::vector<ValueId> unused;
    for (uint32_t i = 0; i < live_graphs_.size(); ++i) {
      if (!live_graphs_[i]) continue;
      for (const ValueId id : model_[GraphId{i}].initializers) {
        const bool is_unused = model_[id].kind == ir::ValueKind::initializer && !model_[id].first_use;
        if (is_unused) unused.push_back(id);
      }
    }
    if (!unused.empty()) edit_.erase(unused);
  }

  ir::Model& model_;
  ir::Edit& edit_;
  std::vector<bool> live_;  // by node
  std::vector<bool> live_graphs_;
  std::vector<NodeId> pending_;
  std::vector<NodeId> dead_;
};

}  // namespace

void remove_dead(ir::Model& model) {
  ir::Edit edit(model);
  remove_dead(model, edit);
}

void remove_dead(ir::Model& model, ir::Edit& edit) { Sweep(model, edit).run(); }

}  // namespace assay::surgery
