#include "ir/verify.h"

#include <fmt/format.h>

#include "base/text.h"

namespace assay::ir {
namespace {

// Follows the scopes of names: a body sees the names of the graphs around it.
class NameCheck {
 public:
  NameCheck(const Model& model, Diagnostics& diagnostics)
      : model_(model), diagnostics_(diagnostics), visible_(model.symbols().size()) {}

  // Checks a graph and all bodies below it.
  void run(GraphId root);

 private:
  struct Scope {
    GraphId graph;
    NodeId next;                                       // the node to look at next
    std::vector<GraphId> bodies;                       // of the node before, still to be entered
    std::vector<std::pair<Symbol, ValueId>> replaced;  // meanings of the names outside
  };

  void enter(GraphId graph);
  void check_outputs(GraphId graph);
  void leave();
  void declare(ValueId id);
  void report_twice(const Value& value, const Value& first);

  const Model& model_;
  Diagnostics& diagnostics_;
  std::vector<ValueId> visible_;  // by symbol
  std::vector<Scope> scopes_;
};

std::string where(const Model& model, const Value& value) {
  return value.producer ? describe(model, value.producer) : std::string("the graph");
}

void NameCheck::report_twice(const Value& value, const Value& first) {
  const std::string name = printable(model_.text(value.name));
  if (value.graph == first.graph) {
    diagnostics_.error(
        "duplicate_name", name,
        fmt::format("tensor `{}` is defined twice: by {} and by {}", name, where(model_, first), where(model_, value)));
  } else {
    diagnostics_.warn("shadowed_name", name,
                      fmt::format("tensor `{}` of a body has the name of a tensor outside it, defined by {}", name,
                                  where(model_, first)));
  }
}

void NameCheck::declare(ValueId id) {
  const Value& value = model_[id];
  if (value.name == kEmpty) return;
  ValueId& slot = visible_[value.name.index];
  if (slot) report_twice(value, model_[slot]);
  if (value.graph != model_.main_graph()) scopes_.back().replaced.emplace_back(value.name, slot);
  slot = id;
}

void NameCheck::enter(GraphId id) {
  const Graph& graph = model_[id];
  scopes_.push_back({id, graph.first, {}, {}});
  check_outputs(id);
  for (const ValueId input : graph.inputs) declare(input);
  for (const ValueId initializer : graph.initializers) {
    if (model_[initializer].kind == ValueKind::initializer) declare(initializer);
  }
  for (const NodeId node : nodes(model_, id)) {
    for (const ValueId result : model_[node].results) {
      if (result) declare(result);
    }
  }
}

// An output without a name is no value.
void NameCheck::check_outputs(GraphId id) {
  const std::span<const Use> outputs = model_.outputs(id);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].value) continue;
    const NodeId owner = model_[id].parent;
    const std::string graph(printable(model_.text(model_[id].name)));
    diagnostics_.error("unnamed_output", graph,
                       fmt::format("output {} of graph `{}`{} has no name", i, graph,
                                   owner ? fmt::format(", a body of {},", describe(model_, owner)) : ""));
  }
}

void NameCheck::leave() {
  if (scopes_.back().graph == model_.main_graph()) visible_.assign(visible_.size(), ValueId{});
  const std::vector<std::pair<Symbol, ValueId>>& replaced = scopes_.back().replaced;
  for (size_t i = replaced.size(); i-- > 0;) visible_[replaced[i].first.index] = replaced[i].second;
  scopes_.pop_back();
}

void NameCheck::run(GraphId root) {
  enter(root);
  while (!scopes_.empty()) {
    Scope& scope = scopes_.back();
    if (!scope.bodies.empty()) {
      const GraphId body = scope.bodies.back();
      scope.bodies.pop_back();
      enter(body);
    } else if (scope.next) {
      scope.bodies = model_.bodies(model_[scope.next]);
      scope.next = model_[scope.next].next;
    } else {
      leave();
    }
  }
}

// Kahn's algorithm over graphs with a cycle: what never becomes ready stands on, or behind, a cycle.
class CycleSearch {
 public:
  explicit CycleSearch(const Model& model) : model_(model) {}
  std::vector<NodeId> run(GraphId graph);

 private:
  template <typename Fn>
  void for_each_successor(NodeId node, Fn&& fn) const {
    for (const ValueId result : model_[node].results) {
      if (!result) continue;
      for (const Use& use : uses(model_, result)) {
        const NodeId user = model_.ancestor_in(use.user, graph_);
        if (user && !model_[user].is_outputs) fn(user);
      }
    }
  }

  const Model& model_;
  GraphId graph_;
  std::vector<uint32_t> waiting_;  // by node: uses of results that are not ready yet
};

std::vector<NodeId> CycleSearch::run(GraphId graph) {
  graph_ = graph;
  waiting_.resize(model_.node_slots());
  for (const NodeId node : nodes(model_, graph_)) {
    for_each_successor(node, [&](NodeId user) { ++waiting_[user.index]; });
  }
  std::vector<NodeId> ready;
  for (const NodeId node : nodes(model_, graph_)) {
    if (waiting_[node.index] == 0) ready.push_back(node);
  }
  while (!ready.empty()) {
    const NodeId node = ready.back();
    ready.pop_back();
    for_each_successor(node, [&](NodeId user) {
      if (--waiting_[user.index] == 0) ready.push_back(user);
    });
  }
  std::vector<NodeId> stuck;
  for (const NodeId node : nodes(model_, graph_)) {
    if (waiting_[node.index] != 0) stuck.push_back(node);
  }
  return stuck;
}

void report_disorder(const Model& model, ValueId early, Diagnostics& diagnostics) {
  const std::string name = printable(model.text(model[early].name));
  diagnostics.error("not_sorted", name,
                    fmt::format("nodes are not in topological order: tensor `{}` is used before {} defines it", name,
                                describe(model, model[early].producer)));
}

void report_cycle(const Model& model, const std::vector<NodeId>& stuck, Diagnostics& diagnostics) {
  diagnostics.error("cycle", std::string(model[stuck[0]].name),
                    fmt::format("the graph has a cycle: {} node(s) are on it or after it, the first is {}",
                                stuck.size(), describe(model, stuck[0])));
}

void report_undefined(const Model& model, const Value& value, Diagnostics& diagnostics) {
  const std::string name = printable(model.text(value.name));
  const NodeId user = value.first_use->user;
  diagnostics.error("undefined_name", name,
                    fmt::format("tensor `{}`, used by {}, is defined nowhere", name,
                                model[user].is_outputs ? "the graph's outputs" : describe(model, user)));
}

void report_invisible(const Model& model, const Value& value, NodeId user, Diagnostics& diagnostics) {
  const std::string name = printable(model.text(value.name));
  diagnostics.error("undefined_name", name,
                    fmt::format("tensor `{}` is used by {}, which is outside the graph that defines it", name,
                                model[user].is_outputs ? "a graph's outputs" : describe(model, user)));
}

// Checks that definitions stand before their uses, in the graph around them.
class UseCheck {
 public:
  UseCheck(const Model& model, Diagnostics& diagnostics)
      : model_(model), diagnostics_(diagnostics), cycles_(model), disordered_(model.graph_slots()) {}

  std::vector<GraphOrder> take_orders() { return std::move(orders_); }

  void check(ValueId id) {
    const Value& value = model_[id];
    for (const Use& use : uses(model_, id)) {
      const NodeId user = model_.ancestor_in(use.user, value.graph);
      if (!user) return report_invisible(model_, value, use.user, diagnostics_);
      if (value.producer && !model_[user].is_outputs && !model_.is_before(value.producer, user)) return disorder(id);
    }
  }

 private:
  void disorder(ValueId id) {
    const GraphId graph = model_[id].graph;
    if (disordered_[graph.index]) return;
    disordered_[graph.index] = true;
    if (!sort_) sort_.emplace(model_);
    if (std::optional<GraphOrder> order = sort_->run(graph)) {
      report_disorder(model_, id, diagnostics_);
      orders_.push_back(std::move(*order));
    } else {
      report_cycle(model_, cycles_.run(graph), diagnostics_);
    }
  }

  const Model& model_;
  Diagnostics& diagnostics_;
  CycleSearch cycles_;
  std::optional<TopologicalSort> sort_;
  std::vector<GraphOrder> orders_;
  std::vector<bool> disordered_;  // by graph: reported already
};

std::vector<GraphOrder> check_values(const Model& model, Diagnostics& diagnostics) {
  UseCheck check(model, diagnostics);
  for (uint32_t i = 0; i < model.value_slots(); ++i) {
    const Value& value = model[ValueId{i}];
    if (!value.alive || !value.first_use) continue;
    if (value.kind == ValueKind::undefined) report_undefined(model, value, diagnostics);
    check.check(ValueId{i});
  }
  return check.take_orders();
}

}  // namespace

std::string describe(const Model& model, NodeId id) {
  const Node& node = model[id];
  const std::string op = printable(model.text(node.op));
  if (!node.name.empty()) return fmt::format("node `{}` ({})", printable(node.name), op);
  for (const ValueId result : node.results) {
    if (result) return fmt::format("the {} node of `{}`", op, printable(model.text(model[result].name)));
  }
  return fmt::format("an unnamed {} node", op);
}

std::vector<GraphOrder> verify(const Model& model, Diagnostics& diagnostics) {
  NameCheck names(model, diagnostics);
  if (model.graph_slots() > 0) names.run(model.main_graph());
  for (const Function& function : model.functions()) names.run(function.body);
  return check_values(model, diagnostics);
}

}  // namespace assay::ir
