#include "debug/accuracy/walk.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
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

// What runtimes merge into one loop.
constexpr std::array<std::string_view, 20> kElementwise = {
    "Add",        "Sub", "Mul",  "Div",  "Erf",  "Tanh",        "Sigmoid",  "Sqrt", "Pow", "Exp",
    "Reciprocal", "Neg", "Clip", "Relu", "Cast", "HardSigmoid", "Softplus", "Min",  "Max", "Abs"};
constexpr size_t kMostMerged = 6;  // layers in a row

class Walk {
 public:
  Walk(const ir::Model& model, std::vector<SideValues> sides, const WalkOptions& options)
      : model_(model),
        options_(options),
        oracle_(model, options.max_memory_bytes),
        callees_(model),
        sides_(std::move(sides)) {
    for (SideValues& side : sides_) {
      roundings_.push_back(std::make_unique<LayerRounding>(model, options.max_memory_bytes, side.least_unit));
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
    std::map<ValueId, analysis::Samples> doubts;         // of these, where they are not the same in all runs
    std::map<ValueId, std::vector<std::string>> groups;  // layers that they come from
  };

  // One layer of one side.
  struct Layer {
    NodeId node;
    uint64_t index = 0;
    size_t side = 0;
    std::vector<Datum> exact;
    RoughAllowance rough;
    std::vector<analysis::Samples> samples;  // empty: it was not run with moved roundings
  };

  void count_uses() {
    for (const NodeId node : ir::nodes(model_, model_.main_graph())) {
      ir::for_each_operand(model_, node, [&](ValueId value) { ++uses_left_[value]; });
    }
  }

  void drop_used(NodeId node) {
    constants_.clear();
    std::vector<ValueId>& used = used_.emplace_back();
    ir::for_each_operand(model_, node, [&](ValueId value) {
      if (--uses_left_[value] > 0 || model_[value].graph != model_.main_graph()) return;
      used.push_back(value);
      truth_.erase(value);
      for (State& state : states_) state.doubts.erase(value);
    });
    if (used_.size() <= kMostMerged) return;
    for (const ValueId value : used_.front()) {
      for (SideValues& side : sides_) side.values.erase(value);
      for (State& state : states_) state.computed.erase(value);
    }
    used_.pop_front();
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
    Layer layer{.node = node, .index = index, .side = side, .exact = {}, .rough = {}, .samples = {}};
    const std::variant<std::monostate, Error> computed = attempt([&] {
      layer.exact = oracle_.exact(node, operands);
      layer.rough = roundings_[side]->roughly(node, operands, layer.exact);
      if (!is_shown(layer) || has_doubts(node, side)) run_moved(layer);
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
        take_for_granted(layer, k);
    }
  }

  void run_moved(Layer& layer) {
    const auto samples_of = [this, side = layer.side](ValueId value) {
      const auto found = states_[side].doubts.find(value);
      return found != states_[side].doubts.end() ? found->second
                                                 : analysis::Samples{.nominal = side_value(side, value)};
    };
    layer.samples = roundings_[layer.side]->run(layer.node, samples_of, oracle_.captured(layer.node));
    layer.samples.resize(layer.exact.size());
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

  void take_for_granted(Layer& layer, size_t k) {
    State& state = states_[layer.side];
    const ValueId value = model_[layer.node].results[k];
    state.computed[value] = layer.exact[k];
    if (model_[layer.node].operands.empty()) return;
    analysis::Samples& samples = layer.samples[k];
    if (!samples.is_same() || !samples.unknown.empty()) state.doubts[value] = std::move(samples);
    std::vector<std::string> group = group_of(layer.node, layer.side);
    group.emplace_back(ir::known_name(model_, layer.node));
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
    Judged judged;
    if (given.tensor().shape() != exact.tensor().shape()) {
      error.introduced = error.total = error.excess = INFINITY;
      error.failed_count = error.count = exact.tensor().count();
    } else {
      judged = measure(layer, k, given, error);
      note_output(value, layer.side, error);
    }
    if (error.excess > 1 && result_.accused.size() < options_.most_accused) accuse(layer, k, error, std::move(judged));
    result_.layers.push_back(std::move(error));
  }

  // What was found when a layer was looked at closely.
  struct Judged {
    compare::Allowance allowance;
    bool is_of_type = false;
  };

  Judged measure(Layer& layer, size_t k, const Datum& given, results::LayerVerdict& error) {
    constexpr double kClear = 0.5;
    const Datum& exact = layer.exact[k];
    const Datum truth = true_value(model_[layer.node].results[k]);
    const bool has_truth = is_numeric(truth) && truth.tensor().shape() == exact.tensor().shape();
    const Distances found = measure_distances(given, exact, has_truth ? truth : Datum(), layer.rough);
    error.introduced = found.introduced;
    error.inherited = found.inherited;
    error.total = found.total;
    error.magnitude = found.magnitude;
    error.tolerance = found.tolerance_there;
    error.excess = found.excess;
    error.count = exact.tensor().count();
    if (found.excess <= kClear && layer.samples.empty()) return {};
    return judge_closely(layer, k, given, error);
  }

  // Beside what moved roundings make of the layer.
  Judged judge_closely(Layer& layer, size_t k, const Datum& given, results::LayerVerdict& error) {
    const LayerRounding& rounding = *roundings_[layer.side];
    const Datum& exact = layer.exact[k];
    const std::vector<double> numbers = numbers_of(given), right = numbers_of(exact);
    const tensor::DType type = exact.declared();
    if (tensor::is_floating(type)) {
      const std::optional<Difference> of_type = judge_type(numbers, right, type, rounding.roundoff(type));
      if (of_type) {
        note(*of_type, error);
        return {.allowance = {}, .is_of_type = true};
      }
    }
    Judged judged{.allowance = allowance_of(layer, k)};
    if (judged.allowance.is_unknown || judged.allowance.of_elements.size() != exact.tensor().count()) {
      error.tolerance = INFINITY;
      error.excess = 0;
      return judged;
    }
    note(judge_numbers(numbers, right, type, judged.allowance), error);
    if (error.excess > 1) judge_as_merged(layer, k, numbers, error);
    return judged;
  }

  static Difference judge_numbers(const std::vector<double>& given, const std::vector<double>& right,
                                  tensor::DType type, const compare::Allowance& allowance) {
    return tensor::is_floating(type) ? judge_floats(given, right, allowance) : judge_whole(given, right, allowance);
  }

  // A side that shows the operands may have computed the result without them, together with layers before it.
  void judge_as_merged(const Layer& layer, size_t k, const std::vector<double>& numbers, results::LayerVerdict& error) {
    const std::optional<std::vector<analysis::Samples>> merged = run_merged(layer.node, layer.side, kMostMerged);
    if (!merged || k >= merged->size()) return;
    const analysis::Samples& samples = (*merged)[k];
    const compare::Allowance allowance = roundings_[layer.side]->allowance_of(samples);
    if (allowance.is_unknown || allowance.of_elements.size() != numbers.size()) return;
    const Difference difference =
        judge_numbers(numbers, numbers_of(samples.nominal), samples.nominal.declared(), allowance);
    if (difference.excess <= 1) note(difference, error);
  }

  // A layer with those before it, as far as they compute element by element; nothing where an operand is not known any
  // more.
  std::optional<std::vector<analysis::Samples>> run_merged(NodeId node, size_t side, size_t depth) {
    std::map<ValueId, analysis::Samples> operands;
    for (const ir::Use& use : model_[node].operands) {
      if (!use.value || operands.contains(use.value)) continue;
      std::optional<analysis::Samples> operand = merged_value(use.value, side, depth);
      if (!operand) return std::nullopt;
      operands[use.value] = std::move(*operand);
    }
    if (!model_.bodies(model_[node]).empty()) return std::nullopt;
    return roundings_[side]->run(node, [&](ValueId value) { return operands.at(value); }, {});
  }

  std::optional<analysis::Samples> merged_value(ValueId value, size_t side, size_t depth) {
    const NodeId maker = model_[value].producer;
    if (maker && depth > 0 && is_elementwise(maker)) {
      std::optional<std::vector<analysis::Samples>> made = run_merged(maker, side, depth - 1);
      const std::span<const ValueId> results = model_[maker].results;
      const auto k = static_cast<size_t>(std::ranges::find(results, value) - results.begin());
      if (made && k < made->size()) return std::move((*made)[k]);
    }
    const Datum known = side_value(side, value);
    return known.is_none() ? std::nullopt : std::optional(analysis::Samples{.nominal = known});
  }

  bool is_elementwise(NodeId node) const {
    const std::string_view op = model_.text(model_[node].op);
    return std::ranges::find(kElementwise, op) != kElementwise.end();
  }

  compare::Allowance allowance_of(Layer& layer, size_t k) {
    const LayerRounding& rounding = *roundings_[layer.side];
    if (layer.samples.empty()) {
      const auto operands = [this, side = layer.side](ValueId value) { return side_value(side, value); };
      std::optional<compare::Allowance> known = rounding.of_products(layer.node, operands, layer.exact[k], oracle_);
      if (known) return std::move(*known);
      run_moved(layer);
    }
    return rounding.allowance_of(layer.samples[k]);
  }

  static void note(const Difference& difference, results::LayerVerdict& error) {
    error.tolerance = difference.tolerance_there;
    error.excess = difference.excess;
    error.failed_count = difference.failed_count;
  }

  void note_output(ValueId value, size_t side, const results::LayerVerdict& error) {
    if (!ir::is_output(model_, value)) return;
    results::AccuracySide& facts = result_.sides[side];
    facts.output_error = std::max(facts.output_error, error.total);
    facts.output_magnitude = std::max(facts.output_magnitude, error.magnitude);
  }

  void accuse(const Layer& layer, size_t k, const results::LayerVerdict& error, Judged judged) {
    const auto [node, side] = std::pair(layer.node, layer.side);
    Accused accused{
        .error = error, .node = node, .result = k, .exact = layer.exact[k], .allowance = std::move(judged.allowance)};
    accused.given = sides_[side].values.at(model_[node].results[k]);
    accused.truth = true_value(model_[node].results[k]);
    accused.is_type_at_fault = judged.is_of_type;
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
  std::vector<std::unique_ptr<LayerRounding>> roundings_;
  std::vector<State> states_;
  std::map<ValueId, Datum> truth_;
  mutable std::map<ValueId, Datum> constants_;  // of the layer at hand
  std::map<ValueId, uint64_t> uses_left_;
  std::deque<std::vector<ValueId>> used_;  // by the last layers for the last time: those may have been merged
  WalkResult result_;
};

}  // namespace

WalkResult walk(const ir::Model& model, const std::vector<ops::InputDatum>& inputs, std::vector<SideValues> sides,
                const WalkOptions& options) {
  return Walk(model, std::move(sides), options).run(inputs);
}

}  // namespace assay::debug
