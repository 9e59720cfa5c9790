#include "match/find.h"

#include <algorithm>
#include <functional>
#include <map>
#include <ranges>

#include "ir/queries.h"
#include "schema/schema.h"

namespace assay::match {
namespace {

using ir::NodeId;
using ir::ValueId;

// Bounds the search at one place where operands that commute can be tried in very many orders.
constexpr size_t kMostSteps = 20'000;

bool fits(const AttributeRule& rule, const ir::AttributeValue& value) {
  const int64_t* const integer = std::get_if<int64_t>(&value);
  const float* const floating = std::get_if<float>(&value);
  if (rule.least || rule.most) {
    if (!integer && !floating) return false;
    const double number = integer ? static_cast<double>(*integer) : *floating;
    if (rule.least && !(number >= *rule.least)) return false;
    if (rule.most && !(number <= *rule.most)) return false;
  }
  const auto is_same = [&](const ir::AttributeValue& wanted) {
    const int64_t* const whole = std::get_if<int64_t>(&wanted);  // 1 for 1.0
    return wanted == value || (whole && floating && static_cast<float>(*whole) == *floating);
  };
  return rule.any_of.empty() || std::ranges::any_of(rule.any_of, is_same);
}

// The pattern with its values numbered and its names looked up in the model.
struct Numbered {
  struct Node {
    const PatternNode* source;
    std::vector<ir::Symbol> ops;
    std::vector<uint32_t> inputs;
    std::vector<uint32_t> outputs;
  };
  enum class Kind : uint8_t { nothing, input, constant, result };
  struct Value {
    Kind kind = Kind::nothing;
    uint32_t node = 0;
    uint32_t index = 0;
  };

  Numbered(const ir::Model& model, const Pattern& pattern) {
    values.emplace_back();  // an operand that is left out
    numbers[""] = 0;
    for (const std::string& name : pattern.inputs) inputs.push_back(define(name, {Kind::input}));
    for (const std::string& name : pattern.constants) define(name, {Kind::constant});
    for (uint32_t i = 0; i < pattern.nodes.size(); ++i) {
      const std::vector<std::string>& names = pattern.nodes[i].outputs;
      for (uint32_t k = 0; k < names.size(); ++k) {
        if (!names[k].empty()) define(names[k], {Kind::result, i, k});
      }
    }
    for (const PatternNode& node : pattern.nodes) add_node(model, node);
    for (const std::string& name : pattern.outputs) outputs.push_back(numbers.at(name));
  }

  uint32_t define(const std::string& name, Value value) {
    numbers[name] = static_cast<uint32_t>(values.size());
    values.push_back(value);
    return numbers[name];
  }

  void add_node(const ir::Model& model, const PatternNode& node) {
    Node wanted{.source = &node, .ops = {}, .inputs = {}, .outputs = {}};
    for (const std::string& op : node.ops) {
      if (const ir::Symbol symbol = model.symbols().find(op)) wanted.ops.push_back(symbol);
    }
    for (const std::string& name : node.inputs) wanted.inputs.push_back(numbers.at(name));
    for (const std::string& name : node.outputs) wanted.outputs.push_back(numbers.at(name));
    while (!wanted.inputs.empty() && wanted.inputs.back() == 0) wanted.inputs.pop_back();
    while (!wanted.outputs.empty() && wanted.outputs.back() == 0) wanted.outputs.pop_back();
    nodes.push_back(std::move(wanted));
  }

  std::map<std::string, uint32_t> numbers;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
};

// Searches at one place: a stack of partial matches, each with the values that it must still account for.
class Search {
 public:
  Search(const ir::Model& model, ir::GraphId graph, const Numbered& numbered, const std::vector<bool>& is_taken)
      : model_(model), graph_(graph), numbered_(numbered), is_taken_(is_taken) {}

  std::optional<Match> run(ValueId output) {
    State first{.values = std::vector<ValueId>(numbered_.values.size()),
                .nodes = std::vector<NodeId>(numbered_.nodes.size()),
                .is_missing = std::vector<bool>(numbered_.nodes.size()),
                .goals = {{numbered_.outputs[0], output}}};
    open_.push_back(std::move(first));
    for (size_t steps = 0; !open_.empty() && steps < kMostSteps; ++steps) {
      State state = std::move(open_.back());
      open_.pop_back();
      if (!state.goals.empty()) {
        reach_goal(std::move(state));
      } else if (!grow(state) && is_closed(state)) {
        return to_match(state);
      }
    }
    return std::nullopt;
  }

 private:
  struct Goal {
    uint32_t value;
    ValueId actual;
  };
  struct State {
    std::vector<ValueId> values;  // by number
    std::vector<NodeId> nodes;
    std::vector<bool> is_missing;
    std::vector<Goal> goals;
  };

  void reach_goal(State state) {
    const Goal goal = state.goals.back();
    state.goals.pop_back();
    const Numbered::Value& value = numbered_.values[goal.value];
    if (!goal.actual || value.kind == Numbered::Kind::nothing) {
      if (!goal.actual && value.kind == Numbered::Kind::nothing) open_.push_back(std::move(state));
      return;
    }
    ValueId& bound = state.values[goal.value];
    if (bound) {
      if (bound == goal.actual) open_.push_back(std::move(state));
      return;
    }
    bound = goal.actual;
    if (value.kind == Numbered::Kind::result) return match_producer(std::move(state), goal, value);
    if (value.kind == Numbered::Kind::input || is_constant(goal.actual)) open_.push_back(std::move(state));
  }

  // Pushes the tries, of which the last is made first: the node in its own order of operands, then in the other, then
  // without it.
  void match_producer(State state, const Goal& goal, const Numbered::Value& value) {
    const Numbered::Node& wanted = numbered_.nodes[value.node];
    const NodeId producer = model_[goal.actual].producer;
    const bool fits_here = producer && !state.nodes[value.node] && !state.is_missing[value.node] &&
                           model_[goal.actual].index == value.index && fits_node(state, wanted, producer);
    if (wanted.source->is_optional && !state.nodes[value.node]) {
      State without = state;
      without.is_missing[value.node] = true;
      without.goals.push_back({wanted.inputs[0], goal.actual});
      open_.push_back(std::move(without));
    }
    if (!fits_here) return;
    state.nodes[value.node] = producer;
    add_results(state, wanted, producer);
    if (wanted.source->is_commutative) {
      State swapped = state;
      add_operands(swapped, wanted, producer, true);
      open_.push_back(std::move(swapped));
    }
    add_operands(state, wanted, producer, false);
    open_.push_back(std::move(state));
  }

  void add_operands(State& state, const Numbered::Node& wanted, NodeId id, bool is_swapped) const {
    for (size_t i = wanted.inputs.size(); i-- > 0;) {
      state.goals.push_back({wanted.inputs[i], model_[id].operands[is_swapped ? 1 - i : i].value});
    }
  }

  void add_results(State& state, const Numbered::Node& wanted, NodeId id) const {
    for (size_t i = 0; i < wanted.outputs.size(); ++i) {
      if (wanted.outputs[i] != 0) state.values[wanted.outputs[i]] = model_[id].results[i];
    }
  }

  bool fits_node(const State& state, const Numbered::Node& wanted, NodeId id) const {
    const ir::Node& node = model_[id];
    if (node.graph != graph_ || is_taken_[id.index]) return false;
    if (std::ranges::find(wanted.ops, node.op) == wanted.ops.end()) return false;
    if (std::ranges::find(state.nodes, id) != state.nodes.end()) return false;
    size_t operands = node.operands.size();
    while (operands > 0 && !node.operands[operands - 1].value) --operands;
    size_t results = node.results.size();
    while (results > 0 && !node.results[results - 1]) --results;
    if (operands != wanted.inputs.size() || results != wanted.outputs.size()) return false;
    const std::optional<std::string>& domain = wanted.source->domain;
    if (domain && schema::canonical_domain(model_.text(node.domain)) != schema::canonical_domain(*domain)) return false;
    return std::ranges::all_of(wanted.source->rules, [&](const AttributeRule& rule) { return obeys(node, rule); });
  }

  bool obeys(const ir::Node& node, const AttributeRule& rule) const {
    const ir::Attribute* const attribute = model_.find_attribute(node, rule.name);
    if (!attribute) return rule.may_be_absent;
    const std::optional<ir::AttributeValue> value = ir::attribute_value(model_, *attribute);
    const bool is_free = rule.any_of.empty() && !rule.least && !rule.most;
    return value ? fits(rule, *value) : is_free;
  }

  bool is_constant(ValueId id) const {
    const ir::Value& value = model_[id];
    if (value.kind == ir::ValueKind::initializer) return true;
    return value.producer && ir::is_constant_node(model_, value.producer);
  }

  // Nodes that no output leads back to are found forward, from a value that they read. False: all are accounted for.
  bool grow(const State& state) {
    for (uint32_t i = 0; i < numbered_.nodes.size(); ++i) {
      if (state.nodes[i] || state.is_missing[i]) continue;
      const auto bound =
          std::ranges::find_if(numbered_.nodes[i].inputs, [&](uint32_t v) { return state.values[v].valid(); });
      if (bound == numbered_.nodes[i].inputs.end()) continue;
      push_users(state, numbered_.nodes[i], state.values[*bound]);
      return true;
    }
    return !std::ranges::all_of(std::views::iota(size_t{0}, numbered_.nodes.size()),
                                [&](size_t i) { return state.nodes[i].valid() || state.is_missing[i]; });
  }

  void push_users(const State& state, const Numbered::Node& wanted, ValueId value) {
    const uint32_t output = wanted.outputs[0];
    const ValueId through = state.values[wanted.inputs[0]];
    if (wanted.source->is_optional && through) push_goal(state, {output, through});
    std::vector<NodeId> users;
    for (const ir::Use& use : ir::uses(model_, value)) users.push_back(use.user);
    std::ranges::sort(users, std::greater<>(), &NodeId::index);
    users.erase(std::ranges::unique(users).begin(), users.end());
    for (const NodeId user : users) {
      const ir::Node& node = model_[user];
      const bool can_be = std::ranges::find(wanted.ops, node.op) != wanted.ops.end() && !node.results.empty();
      if (can_be && node.results[0]) push_goal(state, {output, node.results[0]});
    }
  }

  void push_goal(const State& state, Goal goal) {
    State next = state;
    next.goals.push_back(goal);
    open_.push_back(std::move(next));
  }

  // True if all results that are not outputs of the pattern are used within it only.
  bool is_closed(const State& state) const {
    for (const NodeId id : state.nodes) {
      if (!id) continue;
      for (const ValueId result : model_[id].results) {
        if (result && !is_output(state, result) && is_used_outside(state, result)) return false;
      }
    }
    return true;
  }

  bool is_output(const State& state, ValueId value) const {
    return std::ranges::any_of(numbered_.outputs, [&](uint32_t output) { return state.values[output] == value; });
  }

  bool is_used_outside(const State& state, ValueId value) const {
    for (const ir::Use& use : ir::uses(model_, value)) {
      if (std::ranges::find(state.nodes, use.user) == state.nodes.end()) return true;
    }
    return false;
  }

  Match to_match(const State& state) const {
    Match match{.inputs = {}, .outputs = {}, .nodes = state.nodes};
    for (const uint32_t input : numbered_.inputs) match.inputs.push_back(state.values[input]);
    for (const uint32_t output : numbered_.outputs) match.outputs.push_back(state.values[output]);
    return match;
  }

  const ir::Model& model_;
  ir::GraphId graph_;
  const Numbered& numbered_;
  const std::vector<bool>& is_taken_;
  std::vector<State> open_;
};

// The operators by which the first output can be given, through optional nodes that are missing too.
std::vector<ir::Symbol> first_ops(const Numbered& numbered) {
  std::vector<ir::Symbol> ops;
  uint32_t value = numbered.outputs[0];
  for (size_t left = numbered.nodes.size(); left > 0 && numbered.values[value].kind == Numbered::Kind::result; --left) {
    const Numbered::Node& node = numbered.nodes[numbered.values[value].node];
    ops.insert(ops.end(), node.ops.begin(), node.ops.end());
    if (!node.source->is_optional) break;
    value = node.inputs[0];
  }
  return ops;
}

bool is_real(const Match& match) {
  return std::ranges::any_of(match.nodes, &NodeId::valid) && std::ranges::all_of(match.outputs, &ValueId::valid);
}

}  // namespace

std::vector<Match> find(const ir::Model& model, ir::GraphId graph, const Pattern& pattern) {
  const Numbered numbered(model, pattern);
  const std::vector<ir::Symbol> ops = first_ops(numbered);
  std::vector<bool> is_taken(model.node_slots());
  std::vector<Match> matches;
  for (NodeId id = model[graph].last; id; id = model[id].previous) {
    if (is_taken[id.index] || std::ranges::find(ops, model[id].op) == ops.end()) continue;
    for (const ValueId result : model[id].results) {
      if (!result) continue;
      std::optional<Match> match = Search(model, graph, numbered, is_taken).run(result);
      if (!match || !is_real(*match)) continue;
      for (const NodeId node : match->nodes) {
        if (node) is_taken[node.index] = true;
      }
      matches.push_back(std::move(*match));
      break;
    }
  }
  std::ranges::reverse(matches);
  return matches;
}

std::vector<Match> find(const ir::Model& model, const Pattern& pattern) {
  return find(model, model.main_graph(), pattern);
}

}  // namespace assay::match
