#include "debug/accuracy/walk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "debug/accuracy/difference.h"
#include "ir/naming.h"
#include "ir/queries.h"
#include "ir/walk.h"
#include "ops/evaluate.h"

namespace assay::debug {
namespace {

using ir::NodeId;
using ir::ValueId;

class Walk {
 public:
  Walk(const ir::Model& model, std::vector<SideValues> sides, const WalkOptions& options)
      : model_(model),
        options_(options),
        oracle_(model, options.max_memory_bytes),
        callees_(model),
        sides_(std::move(sides)) {
    for (SideValues& side : sides_) {
      makers_.emplace_back(model, oracle_, side.least_unit);
      result_.sides.push_back({.name = side.name});
      states_.emplace_back();
    }
    count_uses();
  }

  WalkResult run(const std::vector<ops::InputDatum>& inputs) {
    for (const ops::InputDatum& input : inputs) truth_[input.value] = input.datum;
    uint64_t index = 0;
    for (const NodeId node : ir::nodes(model_, model_.main_graph())) {
      visit(node, index++);
      drop_used(node);
      if (options_.on_layer) options_.on_layer();
    }
    return std::move(result_);
  }

 private:
  // What is known of one side besides what it gave.
  struct State {
    std::map<ValueId, Datum> computed;                   // for values that it did not give
    std::map<ValueId, Allowances> doubts;                // of these
    std::map<ValueId, std::vector<std::string>> groups;  // layers that they come from
  };

  // One layer of one side.
  struct Layer {
    NodeId node;
    uint64_t index = 0;
    size_t side = 0;
    std::vector<Datum> exact;
    std::vector<Allowances> allowances;
    bool is_rough = false;        // the allowances are the least ones
    std::function<void()> allow;  // finds the full ones
  };

  void count_uses() {
    for (const NodeId node : ir::nodes(model_, model_.main_graph())) {
      ir::for_each_operand(model_, node, [&](ValueId value) { ++uses_left_[value]; });
    }
  }

  void drop_used(NodeId node) {
    constants_.clear();
    ir::for_each_operand(model_, node, [&](ValueId value) {
      if (--uses_left_[value] > 0 || model_[value].graph != model_.main_graph()) return;
      truth_.erase(value);
      for (SideValues& side : sides_) side.values.erase(value);
      for (State& state : states_) {
        state.computed.erase(value);
        state.doubts.erase(value);
      }
    });
  }

  // Wide from the start, because one layer needs it several times.
  Datum constant_of(ValueId value) const {
    const ir::TensorId id = model_[value].constant;
    if (!id) return {};
    const auto [found, is_new] = constants_.try_emplace(value);
    if (is_new) found->second = ops::widen(Datum(model_[id].tensor));
    return found->second;
  }

  Datum true_value(ValueId value) const {
    const auto found = truth_.find(value);
    return found != truth_.end() ? found->second : constant_of(value);
  }

  Datum side_value(size_t side, ValueId value) const {
    const auto given = sides_[side].values.find(value);
    if (given != sides_[side].values.end()) return given->second;
    const auto computed = states_[side].computed.find(value);
    return computed != states_[side].computed.end() ? computed->second : true_value(value);
  }

  void visit(NodeId node, uint64_t index) {
    if (is_random(node)) return take_drawn(node);
    const std::vector<Datum> truth = oracle_.exact(node, [&](ValueId value) { return true_value(value); });
    for (size_t k = 0; k < truth.size() && k < model_[node].results.size(); ++k) {
      const ValueId value = model_[node].results[k];
      if (!value) continue;
      truth_[value] = truth[k];
      for (SideValues& side : sides_) take_type(truth[k], value, side);
    }
    for (size_t side = 0; side < sides_.size(); ++side) visit_side(node, index, side);
  }

  // What a side gives in another floating type is a number like any other.
  static void take_type(const Datum& truth, ValueId value, SideValues& side) {
    const auto given = side.values.find(value);
    if (given == side.values.end() || !is_numeric(given->second) || !is_numeric(truth)) return;
    const bool are_floats = tensor::is_floating(given->second.declared()) && tensor::is_floating(truth.declared());
    if (!are_floats || given->second.declared() == truth.declared()) return;
    given->second = Datum(ops::widen(given->second).tensor(), truth.declared());
  }

  bool is_random(NodeId node) const {
    const schema::Schema* const schema = callees_[node].schema;
    return schema != nullptr && !schema->deterministic && schema->name.starts_with("Random");
  }

  // What a side has drawn is as true as any other.
  void take_drawn(NodeId node) {
    for (const ValueId value : model_[node].results) {
      for (const SideValues& side : sides_) {
        if (value && side.values.contains(value)) truth_.insert_or_assign(value, side.values.at(value));
      }
    }
  }

  void visit_side(NodeId node, uint64_t index, size_t side) {
    const OperandSource operands = [this, side](ValueId value) { return side_value(side, value); };
    const auto doubts = [this, side](ValueId value) {
      const auto found = states_[side].doubts.find(value);
      return found == states_[side].doubts.end() ? nullptr : found->second;
    };
    Layer layer{.node = node, .index = index, .side = side, .exact = {}, .allowances = {}, .allow = {}};
    const std::variant<std::monostate, Error> computed = attempt([&] {
      layer.exact = oracle_.exact(node, operands);
      layer.allow = [&] { layer.allowances = makers_[side].make(node, operands, layer.exact, doubts); };
      layer.is_rough = is_shown(layer) && !has_doubts(node, side);
      if (layer.is_rough)
        layer.allowances = makers_[side].least(layer.exact);
      else if (!model_[node].operands.empty())
        layer.allow();
      layer.allowances.resize(layer.exact.size());
      return std::monostate();
    });
    if (const Error* error = std::get_if<Error>(&computed)) {
      if (error->code() == ErrorCode::cancelled || error->code() == ErrorCode::limit) throw *error;
      return;  // the side's operands do not fit: an earlier layer is accused
    }
    for (size_t k = 0; k < layer.exact.size() && k < model_[node].results.size(); ++k) {
      const ValueId value = model_[node].results[k];
      if (!value) continue;
      if (sides_[side].values.contains(value))
        judge(layer, k);
      else
        take_for_granted(node, side, value, layer.exact[k], layer.allowances[k]);
    }
  }

  // Whether the side gives all results that anybody needs.
  bool is_shown(const Layer& layer) const {
    return std::ranges::all_of(model_[layer.node].results, [&](ValueId value) {
      return !value || model_[value].first_use == nullptr || sides_[layer.side].values.contains(value);
    });
  }

  bool has_doubts(NodeId node, size_t side) const {
    bool has = false;
    ir::for_each_operand(model_, node, [&](ValueId value) { has = has || states_[side].doubts.contains(value); });
    return has;
  }

  void take_for_granted(NodeId node, size_t side, ValueId value, const Datum& exact, const Allowances& allowance) {
    State& state = states_[side];
    state.computed[value] = exact;
    if (model_[node].operands.empty()) return;
    if (allowance && std::ranges::any_of(*allowance, [](double a) { return a > 0; })) state.doubts[value] = allowance;
    std::vector<std::string> group = group_of(node, side);
    group.emplace_back(ir::known_name(model_, node));
    state.groups[value] = std::move(group);
  }

  // The layers before it that this side does not show.
  std::vector<std::string> group_of(NodeId node, size_t side) const {
    std::vector<std::string> group;
    ir::for_each_operand(model_, node, [&](ValueId value) {
      const auto found = states_[side].groups.find(value);
      if (found == states_[side].groups.end()) return;
      for (const std::string& name : found->second) {
        if (std::ranges::find(group, name) == group.end()) group.push_back(name);
      }
    });
    return group;
  }

  bool takes_floats(NodeId node, size_t side) const {
    return std::ranges::any_of(model_[node].operands, [&](const ir::Use& use) {
      const Datum datum = use.value ? side_value(side, use.value) : Datum();
      return datum.is_tensor() && tensor::is_floating(datum.declared());
    });
  }

  void judge(Layer& layer, size_t k) {
    const ValueId value = model_[layer.node].results[k];
    const Datum& given = sides_[layer.side].values.at(value);
    const Datum& exact = layer.exact[k];
    if (!is_numeric(given) || !is_numeric(exact)) return;
    ++result_.sides[layer.side].given_count;
    results::LayerVerdict error{.index = layer.index,
                                .node = std::string(ir::known_name(model_, layer.node)),
                                .op = std::string(model_.text(model_[layer.node].op)),
                                .value = std::string(model_.text(model_[value].name)),
                                .side = sides_[layer.side].name};
    error.group = group_of(layer.node, layer.side);
    bool is_of_type = false;
    if (given.tensor().shape() != exact.tensor().shape()) {
      error.introduced = error.total = error.excess = INFINITY;
      error.failed_count = error.count = exact.tensor().count();
    } else {
      is_of_type = measure(layer, k, given, error);
      measure_inherited(value, given, exact, layer.side, error);
    }
    if (error.excess > 1 && result_.accused.size() < options_.most_accused) {
      accuse(layer, k, error, is_of_type);
    }
    result_.layers.push_back(std::move(error));
  }

  bool measure(Layer& layer, size_t k, const Datum& given, results::LayerVerdict& error) const {
    const bool is_of_type = measure(layer.node, layer.side, given, layer.exact[k], layer.allowances[k], error);
    constexpr double kClear = 0.5;
    if (error.excess <= kClear || !layer.is_rough || model_[layer.node].operands.empty()) return is_of_type;
    layer.is_rough = false;
    layer.allow();
    return measure(layer.node, layer.side, given, layer.exact[k], layer.allowances[k], error);
  }

  bool measure(NodeId node, size_t side, const Datum& given, const Datum& exact, const Allowances& allowance,
               results::LayerVerdict& error) const {
    const std::vector<double> numbers = numbers_of(given);
    const std::vector<double> right = numbers_of(exact);
    const std::vector<double> none(allowance ? 0 : right.size());
    const std::vector<double>& allowed = allowance ? *allowance : none;
    const Difference difference = tensor::is_floating(exact.declared())
                                      ? judge_floats(numbers, right, allowed, exact.declared())
                                      : judge_whole(numbers, right, allowed, takes_floats(node, side));
    error.introduced = difference.greatest;
    error.tolerance = difference.tolerance_there;
    error.excess = difference.excess;
    error.failed_count = difference.failed_count;
    error.count = difference.count;
    return difference.is_of_type;
  }

  void measure_inherited(ValueId value, const Datum& given, const Datum& exact, size_t side,
                         results::LayerVerdict& error) {
    const Datum truth = true_value(value);
    if (!is_numeric(truth) || truth.tensor().shape() != exact.tensor().shape()) return;
    const std::vector<double> right = numbers_of(truth);
    error.inherited = greatest_distance(numbers_of(exact), right);
    error.total = greatest_distance(numbers_of(given), right);
    error.magnitude = root_mean_square(right);
    if (!ir::is_output(model_, value)) return;
    results::AccuracySide& facts = result_.sides[side];
    facts.output_error = std::max(facts.output_error, error.total);
    facts.output_magnitude = std::max(facts.output_magnitude, error.magnitude);
  }

  void accuse(const Layer& layer, size_t k, const results::LayerVerdict& error, bool is_of_type) {
    const auto [node, side] = std::pair(layer.node, layer.side);
    Accused accused{
        .error = error, .node = node, .result = k, .exact = layer.exact[k], .allowance = layer.allowances[k]};
    accused.given = sides_[side].values.at(model_[node].results[k]);
    accused.truth = true_value(model_[node].results[k]);
    accused.is_type_at_fault = is_of_type;
    std::set<ValueId> known;
    ir::for_each_operand(model_, node, [&](ValueId value) {
      if (model_[value].graph == model_.main_graph() && known.insert(value).second) {
        accused.operands.emplace_back(value, side_value(side, value));
      }
    });
    result_.accused.push_back(std::move(accused));
  }

  const ir::Model& model_;
  const WalkOptions& options_;
  LayerOracle oracle_;
  ops::Resolver callees_;
  std::vector<SideValues> sides_;
  std::vector<AllowanceMaker> makers_;
  std::vector<State> states_;
  std::map<ValueId, Datum> truth_;
  mutable std::map<ValueId, Datum> constants_;  // of the layer at hand
  std::map<ValueId, uint64_t> uses_left_;
  WalkResult result_;
};

}  // namespace

WalkResult walk(const ir::Model& model, const std::vector<ops::InputDatum>& inputs, std::vector<SideValues> sides,
                const WalkOptions& options) {
  return Walk(model, std::move(sides), options).run(inputs);
}

}  // namespace assay::debug
