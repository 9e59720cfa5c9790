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
      : model_(model), options_(options), oracle_(model, options.max_memory_bytes), callees_(model) {
    for (SideValues& side : sides) {
      result_.sides.push_back({.name = side.name});
      sides_.emplace_back(model, std::move(side), options.max_memory_bytes,
                          [this](ValueId value) { return true_value(value); });
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
    std::vector<ValueId> used;
    ir::for_each_operand(model_, node, [&](ValueId value) {
      if (--uses_left_[value] > 0 || model_[value].graph != model_.main_graph()) return;
      used.push_back(value);
      truth_.erase(value);
    });
    for (Side& side : sides_) side.drop_used(used);
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

  void visit(NodeId node, uint64_t index) {
    if (is_random(node)) return take_drawn(node);
    const std::vector<Datum> truth = oracle_.exact(node, [&](ValueId value) { return true_value(value); });
    for (size_t k = 0; k < truth.size() && k < model_[node].results.size(); ++k) {
      const ValueId value = model_[node].results[k];
      if (!value) continue;
      truth_[value] = truth[k];
      for (Side& side : sides_) side.take_type(value, truth[k]);
    }
    for (size_t side = 0; side < sides_.size(); ++side) visit_side(node, index, side);
  }

  bool is_random(NodeId node) const {
    const schema::Schema* const schema = callees_[node].schema;
    return schema != nullptr && !schema->deterministic && schema->name.starts_with("Random");
  }

  // What a side has drawn is as true as any other.
  void take_drawn(NodeId node) {
    for (const ValueId value : model_[node].results) {
      for (const Side& side : sides_) {
        if (value && side.gives(value)) truth_.insert_or_assign(value, side.given(value));
      }
    }
  }

  void visit_side(NodeId node, uint64_t index, size_t side) {
    const OperandSource operands = [this, side](ValueId value) { return sides_[side].value(value); };
    Layer layer{.node = node, .index = index, .side = side, .exact = {}, .rough = {}, .samples = {}};
    const std::variant<std::monostate, Error> computed = attempt([&] {
      layer.exact = oracle_.exact(node, operands);
      layer.rough = sides_[side].rounding().roughly(node, operands, layer.exact);
      if (sides_[side].has_doubts(node) || !sides_[side].shows(node)) run_moved(layer);
      return std::monostate();
    });
    if (const Error* error = std::get_if<Error>(&computed)) {
      if (error->code() == ErrorCode::cancelled || error->code() == ErrorCode::limit) throw *error;
      return;  // the side's operands do not fit: an earlier layer is accused
    }
    for (size_t k = 0; k < layer.exact.size() && k < model_[node].results.size(); ++k) {
      const ValueId value = model_[node].results[k];
      if (!value) continue;
      if (sides_[side].gives(value))
        judge(layer, k);
      else
        sides_[side].take_for_granted(node, value, layer.exact[k], std::move(layer.samples[k]));
    }
  }

  // Sums of products of what a side shows need no runs.
  void run_moved(Layer& layer) {
    Side& side = sides_[layer.side];
    if (!side.has_doubts(layer.node) && layer.exact.size() == 1) {
      const auto operands = [&](ValueId value) { return side.value(value); };
      std::optional<analysis::Samples> runs =
          side.rounding().runs_of_products(layer.node, operands, layer.exact[0], oracle_);
      if (runs) {
        layer.samples = {std::move(*runs)};
        return;
      }
    }
    layer.samples = sides_[layer.side].run_moved(layer.node, oracle_.captured(layer.node));
    layer.samples.resize(layer.exact.size());
  }

  void judge(Layer& layer, size_t k) {
    const ValueId value = model_[layer.node].results[k];
    const Datum& given = sides_[layer.side].given(value);
    const Datum& exact = layer.exact[k];
    if (!is_numeric(given) || !is_numeric(exact)) return;
    ++result_.sides[layer.side].given_count;
    results::LayerVerdict error{.index = layer.index,
                                .node = std::string(ir::known_name(model_, layer.node)),
                                .op = std::string(model_.text(model_[layer.node].op)),
                                .value = std::string(model_.text(model_[value].name)),
                                .side = sides_[layer.side].name()};
    error.group = sides_[layer.side].group_of(layer.node);
    Judged judged;
    if (given.tensor().shape() != exact.tensor().shape()) {
      error.introduced = error.total = error.excess = INFINITY;
      error.failed_count = error.count = exact.tensor().count();
    } else {
      judged = measure(layer, k, given, error);
      judged.is_out_of_range = error.excess <= 1 && std::isinf(error.inherited) && leaves_range(layer, k, given);
      if (judged.is_out_of_range) error.excess = INFINITY;
      note_output(value, layer.side, error);
    }
    if (error.excess > 1 && has_room(judged.is_of_type)) accuse(layer, k, error, std::move(judged));
    result_.layers.push_back(std::move(error));
  }

  // What was found when a layer was looked at closely.
  struct Judged {
    compare::Allowance allowance;
    bool is_of_type = false;
    bool is_out_of_range = false;
  };

  // What its type explains may be harmless, and must not hide the others.
  bool has_room(bool is_of_type) const {
    const auto count = std::ranges::count(result_.accused, is_of_type, &Accused::is_type_at_fault);
    return static_cast<uint64_t>(count) < options_.most_accused;
  }

  // Whether a finite truth and finite operands end in infinity or NaN.
  bool leaves_range(const Layer& layer, size_t k, const Datum& given) const {
    const Datum truth = true_value(model_[layer.node].results[k]);
    if (!is_numeric(truth) || are_finite(given) || !are_finite(truth)) return false;
    return std::ranges::all_of(model_[layer.node].operands, [&](const ir::Use& use) {
      const Datum operand = use.value ? sides_[layer.side].value(use.value) : Datum();
      return !is_numeric(operand) || are_finite(operand);
    });
  }

  static bool are_finite(const Datum& datum) {
    if (!tensor::is_floating(datum.declared())) return true;
    return std::ranges::all_of(numbers_of(datum), [](double number) { return std::isfinite(number); });
  }

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
    const LayerRounding& rounding = sides_[layer.side].rounding();
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
      acquit(error);
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
    const std::optional<std::vector<analysis::Samples>> merged = sides_[layer.side].run_merged(layer.node);
    if (!merged || k >= merged->size()) return;
    const analysis::Samples& samples = (*merged)[k];
    const LayerRounding& rounding = sides_[layer.side].rounding();
    const compare::Allowance allowance = rounding.allowance_of(samples);
    if (allowance.is_unknown && is_of_a_run(samples, numbers, rounding)) {
      note_kept_wide(layer.node, layer.side);
      return acquit(error);
    }
    if (allowance.is_unknown || allowance.of_elements.size() != numbers.size()) return;
    const Difference difference =
        judge_numbers(numbers, numbers_of(samples.nominal), samples.nominal.declared(), allowance);
    if (difference.excess <= 1) note(difference, error);
  }

  // Whether the values between leave the range of their type and the side has kept them in a wider one.
  static bool is_of_a_run(const analysis::Samples& samples, const std::vector<double>& numbers,
                          const LayerRounding& rounding) {
    return std::ranges::any_of(samples.moved, [&](const Datum& moved) {
      return is_numeric(moved) && moved.tensor().count() == numbers.size() &&
             are_near(numbers, numbers_of(moved), rounding.roundoff(samples.nominal.declared()));
    });
  }

  // Of the layers just before it, those that show infinity.
  void note_kept_wide(NodeId node, size_t side) {
    for (const ir::Use& use : model_[node].operands) {
      const NodeId maker = use.value ? model_[use.value].producer : NodeId();
      if (!maker || !sides_[side].gives(use.value) || are_finite(sides_[side].given(use.value))) continue;
      for (Accused& accused : result_.accused) {
        if (accused.node == maker && accused.error.side == sides_[side].name()) accused.is_kept_wide = true;
      }
      note_kept_wide(maker, side);
    }
  }

  static void acquit(results::LayerVerdict& error) {
    error.tolerance = INFINITY;
    error.excess = 0;
  }

  compare::Allowance allowance_of(Layer& layer, size_t k) {
    const LayerRounding& rounding = sides_[layer.side].rounding();
    if (layer.samples.empty()) {
      const auto operands = [this, side = layer.side](ValueId value) { return sides_[side].value(value); };
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
    accused.given = sides_[side].given(model_[node].results[k]);
    accused.truth = true_value(model_[node].results[k]);
    accused.is_type_at_fault = judged.is_of_type;
    accused.is_out_of_range = judged.is_out_of_range;
    std::set<ValueId> known;
    ir::for_each_operand(model_, node, [&](ValueId value) {
      if (model_[value].graph == model_.main_graph() && known.insert(value).second) {
        accused.operands.emplace_back(value, sides_[side].value(value));
      }
    });
    result_.accused.push_back(std::move(accused));
  }

  const ir::Model& model_;
  const WalkOptions& options_;
  LayerOracle oracle_;
  ops::Resolver callees_;
  std::vector<Side> sides_;
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
