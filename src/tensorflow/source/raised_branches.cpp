#include <algorithm>
#include <array>

#include "tensorflow/source/first_generation.h"
#include "tensorflow/source/region.h"

namespace assay::tensorflow {
namespace {

// A way into a Merge: back to Switches, of which it takes one side.
struct Way {
  std::vector<std::string> values;  // at the end; of several Merges, one of each
  Region nodes;                     // without the Switches
  Region switches;
  std::set<bool> sides;
  std::set<std::string> conditions;
};

class Ways {
 public:
  explicit Ways(const SourceGraph& graph) : graph_(graph) {}

  // Empty if another Merge stands on the way.
  std::optional<Way> to(const std::string& value) const {
    Way way{.values = {value}, .nodes = {}, .switches = {}, .sides = {}, .conditions = {}};
    std::vector<std::string> todo = {value};
    while (!todo.empty()) {
      const std::string next = std::move(todo.back());
      todo.pop_back();
      const std::optional<size_t> number = graph_.producer(next);
      if (!number) continue;
      const SourceNode& node = graph_.nodes[*number];
      if (node.op == "Merge") return std::nullopt;
      if (node.op == "Switch" && node.inputs.size() == 2) {
        way.switches.insert(*number);
        way.conditions.insert(origin_of(graph_, node.inputs[1]));
        way.sides.insert(next == node.output(1));
      } else if (way.nodes.insert(*number).second) {
        todo.insert(todo.end(), node.inputs.begin(), node.inputs.end());
      }
    }
    return way;
  }

  // Constants of a side wait for what stands behind a Switch, and take nothing from it.
  void add_waiting(Way& way) const {
    std::vector<std::string> todo;
    for (const size_t number : way.nodes) {
      const std::vector<std::string>& before = graph_.nodes[number].before;
      todo.insert(todo.end(), before.begin(), before.end());
    }
    std::set<std::string> seen;
    while (!todo.empty()) {
      const std::string next = std::move(todo.back());
      todo.pop_back();
      const SourceNode* const node = seen.insert(next).second ? producer_of(graph_, next) : nullptr;
      if (node == nullptr) continue;
      if (node->op == "Switch" && node->inputs.size() == 2) {
        way.conditions.insert(origin_of(graph_, node->inputs[1]));
        way.sides.insert(next == node->output(1));
      } else if (node->op == "NoOp" || node->op == "Identity") {
        todo.insert(todo.end(), node->before.begin(), node->before.end());
        todo.insert(todo.end(), node->inputs.begin(), node->inputs.end());
      }
    }
  }

 private:
  const SourceGraph& graph_;
};

// Merges of two ways by one condition: that if it is false, and that if it is true.
struct Branches {
  Region merges;
  std::string condition;
  std::array<Way, 2> ways;
};

// Empty if no condition separates the ways, or if another Merge stands on them.
std::optional<Branches> branches_of(const SourceGraph& graph, size_t number) {
  const SourceNode& merge = graph.nodes[number];
  if (merge.op != "Merge" || merge.inputs.size() != 2) return std::nullopt;
  const Ways ways(graph);
  std::optional<Way> first = ways.to(merge.inputs[0]);
  std::optional<Way> second = ways.to(merge.inputs[1]);
  if (!first || !second) return std::nullopt;
  if (first->sides.empty() && second->sides.empty()) {
    ways.add_waiting(*first);
    ways.add_waiting(*second);
  }
  std::set<std::string> conditions = first->conditions;
  conditions.insert(second->conditions.begin(), second->conditions.end());
  if (conditions.size() != 1 || first->sides.size() > 1 || second->sides.size() > 1) return std::nullopt;
  const bool is_true = first->sides.empty() ? !*second->sides.begin() : *first->sides.begin();
  if (!second->sides.empty() && *second->sides.begin() == is_true) return std::nullopt;
  if (is_true) std::swap(first, second);
  return Branches{{number}, *conditions.begin(), {std::move(*first), std::move(*second)}};
}

bool needs_any(const SourceGraph& graph, size_t merge, const Region& others) {
  const Region needed = needed_for(graph, graph.nodes[merge].inputs, {});
  return std::ranges::any_of(others, [&](size_t other) { return needed.contains(other); });
}

// Adds other Merges by the same condition, so that all become one If; those that need each other cannot.
void add_others(const SourceGraph& graph, Branches& all) {
  constexpr size_t kMost = 64;
  for (size_t i = *all.merges.begin() + 1; i < graph.nodes.size() && all.merges.size() < kMost; ++i) {
    const std::optional<Branches> other = branches_of(graph, i);
    if (!other || other->condition != all.condition || needs_any(graph, i, all.merges)) continue;
    if (std::ranges::any_of(all.merges, [&](size_t merge) { return needs_any(graph, merge, {i}); })) continue;
    all.merges.insert(i);
    for (size_t side = 0; side < all.ways.size(); ++side) {
      const Way& way = other->ways[side];
      all.ways[side].values.push_back(way.values.front());
      all.ways[side].nodes.insert(way.nodes.begin(), way.nodes.end());
      all.ways[side].switches.insert(way.switches.begin(), way.switches.end());
    }
  }
}

// The function of one side. Arguments are what the Switches are given, those of the other side too.
SourceGraph branch(const SourceGraph& graph, const Branches& branches, bool side, std::string name) {
  const Way& way = branches.ways[side ? 1 : 0];
  SourceGraph function = function_of(graph, way.nodes, std::move(name));
  for (const Way& each : branches.ways) {
    for (const size_t number : each.switches) {
      const size_t unused = 2;
      const std::string value = graph.nodes[number].output(&each != &way ? unused : side ? 1 : 0);
      function.inputs.push_back({value, value});
    }
  }
  for (const std::string& value : way.values) function.outputs.push_back({value, value});
  function.index_producers();
  return function;
}

// The If in the place of Merges.
SourceNode choice_of(SourceModel& model, const SourceGraph& graph, const Branches& branches) {
  SourceNode choice;
  choice.name = graph.nodes[*branches.merges.begin()].name;
  choice.op = "If";
  choice.inputs = {branches.condition};
  for (const size_t merge : branches.merges) choice.outputs.push_back(graph.nodes[merge].output(0));
  for (const bool side : {false, true}) {
    for (const size_t number : branches.ways[side ? 1 : 0].switches) {
      choice.inputs.push_back(graph.nodes[number].inputs[0]);
    }
    const std::string key = side ? "then_branch" : "else_branch";
    SourceGraph function = branch(graph, branches, side, new_function_name(model, choice.name + "/" + key));
    const std::string name = function.name;
    choice.attributes.emplace(key, name);
    model.functions.insert_or_assign(name, std::move(function));
  }
  return choice;
}

bool raise_one(SourceModel& model, SourceGraph& graph) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    std::optional<Branches> branches = branches_of(graph, i);
    if (!branches) continue;
    add_others(graph, *branches);
    SourceNode choice = choice_of(model, graph, *branches);
    Region moved;
    for (const Way& way : branches->ways) {
      moved.insert(way.nodes.begin(), way.nodes.end());
      moved.insert(way.switches.begin(), way.switches.end());
    }
    replace_nodes(graph, branches->merges, std::move(moved), std::move(choice));
    return true;
  }
  return false;
}

bool is_of_first_generation(const SourceGraph& graph) {
  return std::ranges::any_of(graph.nodes,
                             [](const SourceNode& node) { return node.op == "Enter" || node.op == "Merge"; });
}

void raise(SourceModel& model, SourceGraph& graph) {
  raise_loops(model, graph);
  raise_branches(model, graph);
}

}  // namespace

void raise_branches(SourceModel& model, SourceGraph& graph) {
  while (raise_one(model, graph)) {
  }
}

void raise_control_flow(SourceModel& model) {
  if (is_of_first_generation(model.main)) raise(model, model.main);
  // Loops and branches become functions that may have others in them.
  std::set<std::string> done;
  for (size_t before = 0; before < model.functions.size();) {
    before = model.functions.size();
    std::vector<std::string> names;
    for (const auto& [name, function] : model.functions) {
      if (done.insert(name).second && is_of_first_generation(function)) names.push_back(name);
    }
    for (const std::string& name : names) {
      SourceGraph function = model.functions.at(name);
      raise(model, function);
      model.functions.at(name) = std::move(function);
    }
  }
}

}  // namespace assay::tensorflow
