// Before: nodes in any order.
// After:  every node behind those that make its operands, and what its bodies capture. Nodes that stand right already
//         keep their order among each other.
// Only if: no node depends on itself; otherwise an error names the nodes of a cycle.
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "ir/verify.h"
#include "passes/pass.h"
#include "passes/walk.h"

namespace assay::passes {
namespace {

enum class State : uint8_t { unseen, open, done };

// Depth first from each node in turn: what a node needs is placed before it, everything else as it comes.
class Sorter {
 public:
  explicit Sorter(const ir::Model& model) : model_(model), states_(model.node_slots(), State::unseen) {}

  std::vector<ir::NodeId> order(ir::GraphId graph) {
    for (const ir::NodeId node : ir::nodes(model_, graph)) {
      if (states_[node.index] == State::unseen) place(node);
    }
    return std::move(order_);
  }

 private:
  struct Open {
    ir::NodeId node;
    std::vector<ir::NodeId> needed;
  };

  void place(ir::NodeId first) {
    open(first);
    while (!stack_.empty()) {
      if (stack_.back().needed.empty()) {
        close();
        continue;
      }
      const ir::NodeId next = stack_.back().needed.back();
      stack_.back().needed.pop_back();
      if (states_[next.index] == State::open) refuse_cycle(next);
      if (states_[next.index] == State::unseen) open(next);
    }
  }

  void open(ir::NodeId node) {
    states_[node.index] = State::open;
    stack_.push_back({node, {}});
    const ir::GraphId graph = model_[node].graph;
    for_each_operand(model_, node, [&](ir::ValueId value) {
      const ir::NodeId producer = model_[value].producer;
      const bool is_here = producer.valid() && model_[value].graph == graph;
      if (is_here && states_[producer.index] != State::done) stack_.back().needed.push_back(producer);
    });
    std::ranges::reverse(stack_.back().needed);
  }

  void close() {
    states_[stack_.back().node.index] = State::done;
    order_.push_back(stack_.back().node);
    stack_.pop_back();
  }

  [[noreturn]] void refuse_cycle(ir::NodeId node) const {
    std::string names;
    size_t count = 0;
    for (size_t i = stack_.size(); i-- > 0;) {
      if (count++ < 3) names += (names.empty() ? "" : ", ") + ir::describe(model_, stack_[i].node);
      if (stack_[i].node == node) break;
    }
    fail(ErrorCode::parse, "the graph has a cycle of {} node(s): {}{}", count, names, count > 3 ? ", ..." : "");
  }

  const ir::Model& model_;
  std::vector<State> states_;  // by node
  std::vector<Open> stack_;
  std::vector<ir::NodeId> order_;
};

// How many nodes stand where they should, from the first on.
size_t sorted_count(const ir::Model& model, ir::GraphId graph, const std::vector<ir::NodeId>& order) {
  size_t place = 0;
  for (const ir::NodeId node : ir::nodes(model, graph)) {
    if (order[place] != node) break;
    ++place;
  }
  return place;
}

void sort_graph(PassRun& run, ir::GraphId graph) {
  const ir::Model& model = run.model();
  const std::vector<ir::NodeId> order = Sorter(model).order(graph);
  const size_t first = sorted_count(model, graph, order);
  if (first == order.size()) return;
  if (!run.rewriter().record("put nodes behind what they need, this one first", order[first])) return;
  // All that follow go to the end one after the other, which takes the same time for each.
  for (size_t i = first; i < order.size(); ++i) run.edit().move_before(order[i], {});
}

void sort(PassRun& run) {
  for (const ir::GraphId graph : live_graphs(run.model())) sort_graph(run, graph);
}

}  // namespace

Pass pass_cleanup_sort() {
  return {.name = "sort", .summary = "put nodes behind those that they depend on", .run = sort};
}

}  // namespace assay::passes
