#include "debug/accuracy/walk.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <mutex>
#include <set>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "debug/accuracy/layer_judge.h"
#include "debug/accuracy/together.h"
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
    sides_.reserve(sides.size());
    for (SideValues& side : sides) {
      result_.sides.push_back({.name = side.name, .backend = side.backend});
      sides_.emplace_back(model, std::move(side), options.max_memory_bytes,
                          [this](ValueId value) { return true_value(value); });
      oracles_.emplace_back(model, options.max_memory_bytes);
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
      if (model_[value].producer) truth_.erase(value);  // layers that are judged together may begin at an input
    });
    for (Side& side : sides_) side.drop_used(used);
  }

  // Wide from the start, because one layer needs it several times.
  Datum constant_of(ValueId value) const {
    const ir::TensorId id = model_[value].constant;
    if (!id) return {};
    const std::scoped_lock lock(constants_mutex_);
    const auto [found, is_new] = constants_.try_emplace(value);
    if (!is_new) return found->second;
    found->second = ops::widen(Datum(model_[id].tensor));
    model_[id].tensor.storage()->release();
    return found->second;
  }

  Datum true_value(ValueId value) const {
    const auto found = truth_.find(value);
    return found != truth_.end() ? found->second : constant_of(value);
  }

  void visit(NodeId node, uint64_t index) {
    if (is_random(node)) return take_drawn(node);
    std::vector<SideLayer> layers(sides_.size());
    for (size_t side = 0; side < layers.size(); ++side) layers[side] = {.node = node, .index = index, .side = side};
    const std::vector<Datum> truth = exact_truth(node, layers);
    for (size_t k = 0; k < truth.size() && k < model_[node].results.size(); ++k) {
      const ValueId value = model_[node].results[k];
      if (!value) continue;
      truth_[value] = truth[k];
      for (Side& side : sides_) side.take_type(value, truth[k]);
    }
    compute(layers);
    for (SideLayer& layer : layers) take(layer);
  }

  // And the layers with it, where they can be computed together.
  std::vector<Datum> exact_truth(NodeId node, std::vector<SideLayer>& layers) {
    std::vector<OperandSource> operands = {[this](ValueId value) { return true_value(value); }};
    for (const Side& side : sides_) operands.emplace_back([&side](ValueId value) { return side.value(value); });
    std::optional<std::vector<Datum>> all;
    if (!callees_[node].function) all = products_together(model_, node, operands, oracle_);
    if (!all) return oracle_.exact(node, operands[0]);
    for (SideLayer& layer : layers) layer.exact = {std::move((*all)[layer.side + 1])};
    return {std::move((*all)[0])};
  }

  // Sides do not know of each other: where they are as many as threads and have the same to do, each has one for
  // itself.
  void compute(std::vector<SideLayer>& layers) {
    const auto is_shown = [&](const SideLayer& layer) { return sides_[layer.side].shows(layer.node); };
    const auto shown = static_cast<size_t>(std::ranges::count_if(layers, is_shown));
    const bool are_alike = shown == 0 || shown == layers.size();
    const uint64_t at_a_time = are_alike && thread_count() <= layers.size() ? 1 : layers.size();
    parallel_for(layers.size(), std::max<uint64_t>(at_a_time, 1), [&](uint64_t begin, uint64_t end) {
      for (uint64_t side = begin; side < end; ++side) compute(layers[side]);
    });
  }

  bool is_random(NodeId node) const {
    const schema::Schema* const schema = callees_[node].schema;
    return schema != nullptr && !schema->deterministic && schema->name.starts_with("Random");
  }

  // Takes the numbers that a side has drawn for true: they are as good as any other.
  void take_drawn(NodeId node) {
    for (const ValueId value : model_[node].results) {
      for (const Side& side : sides_) {
        if (value && side.gives(value)) truth_.insert_or_assign(value, side.given(value));
      }
    }
  }

  void compute(SideLayer& layer) {
    Side& side = sides_[layer.side];
    const OperandSource operands = [&side](ValueId value) { return side.value(value); };
    const std::variant<std::monostate, Error> computed = attempt([&] {
      if (layer.exact.empty()) layer.exact = oracles_[layer.side].exact(layer.node, operands);
      layer.rough = side.rounding().roughly(layer.node, operands, layer.exact);
      if (!side.shows(layer.node)) {
        judge_of(layer.side).use_codes(layer);
        judge_of(layer.side).begin_runs(layer);
        side.replace({});
      }
      return std::monostate();
    });
    const Error* const error = std::get_if<Error>(&computed);
    if (error == nullptr) return;
    if (error->code() == ErrorCode::cancelled || error->code() == ErrorCode::limit) throw *error;
    layer.exact.clear();  // the side's operands do not fit: an earlier layer is accused
  }

  void take(SideLayer& layer) {
    const NodeId node = layer.node;
    Side& side = sides_[layer.side];
    for (size_t k = 0; k < layer.exact.size() && k < model_[node].results.size(); ++k) {
      const ValueId value = model_[node].results[k];
      if (!value) continue;
      if (side.gives(value))
        judge(layer, k);
      else
        side.take_for_granted(node, k, layer.exact[k], layer.runs);
    }
  }

  LayerJudge judge_of(size_t side) { return {model_, sides_[side], oracles_[side]}; }

  void judge(SideLayer& layer, size_t k) {
    const size_t side = layer.side;
    const ValueId value = model_[layer.node].results[k];
    const Datum& given = sides_[side].given(value);
    if (!is_numeric(given) || !is_numeric(layer.exact[k])) return;
    ++result_.sides[side].given_count;
    results::LayerVerdict error{.index = layer.index,
                                .node = std::string(ir::known_name(model_, layer.node)),
                                .op = std::string(model_.text(model_[layer.node].op)),
                                .value = std::string(model_.text(model_[value].name)),
                                .side = sides_[side].name()};
    error.group = sides_[side].group_of(layer.node);
    Judged judged = judge_of(side).judge(layer, k, given, true_value(value), error);
    if (judged.is_kept_wide) note_kept_wide(layer.node, side);
    if (!judged.unknown.empty() && result_.unjudged.empty())
      result_.unjudged = fmt::format("`{}` of {}: {}", printable(error.node), error.side, judged.unknown);
    note_output(value, side, error);
    if (side + 1 == sides_.size()) note_cost(layer, k, error);
    if (error.excess > 1 && has_room(judged.is_of_type)) accuse(layer, k, error, std::move(judged));
    result_.layers.push_back(std::move(error));
  }

  // True if another layer may be accused. A fault that its type explains may be harmless, and must not hide the others.
  bool has_room(bool is_of_type) const {
    const auto count = std::ranges::count(result_.accused, is_of_type, &Accused::is_type_at_fault);
    return static_cast<uint64_t>(count) < options_.most_accused;
  }

  // Marks those of the layers just before this one that show infinity.
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

  void note_output(ValueId value, size_t side, const results::LayerVerdict& error) {
    if (!ir::is_output(model_, value)) return;
    results::AccuracySide& facts = result_.sides[side];
    facts.output_error = std::max(facts.output_error, error.total);
    facts.output_magnitude = std::max(facts.output_magnitude, error.magnitude);
  }

  // Keeps the layers that add most beside the size of their results, the greatest first.
  void note_cost(const SideLayer& layer, size_t k, const results::LayerVerdict& error) {
    const auto cost = [](const results::LayerVerdict& of) { return of.introduced / of.magnitude; };
    if (options_.most_costly == 0 || !std::isfinite(cost(error)) || error.introduced == 0) return;
    std::vector<Accused>& costly = result_.costly;
    const auto place = std::ranges::find_if(costly, [&](const Accused& one) { return cost(one.error) < cost(error); });
    if (place == costly.end() && costly.size() >= options_.most_costly) return;
    const ValueId value = model_[layer.node].results[k];
    costly.insert(place, {.error = error,
                          .node = layer.node,
                          .result = k,
                          .given = sides_[layer.side].given(value),
                          .exact = layer.exact[k],
                          .truth = true_value(value)});
    if (costly.size() > options_.most_costly) costly.pop_back();
  }

  void accuse(const SideLayer& layer, size_t k, const results::LayerVerdict& error, Judged judged) {
    const NodeId node = layer.node;
    const Side& side = sides_[layer.side];
    Accused accused{
        .error = error, .node = node, .result = k, .exact = layer.exact[k], .allowance = std::move(judged.allowance)};
    accused.given = side.given(model_[node].results[k]);
    accused.truth = true_value(model_[node].results[k]);
    accused.is_type_at_fault = judged.is_of_type;
    accused.is_out_of_range = judged.is_out_of_range;
    accused.quantizer_fault = std::move(judged.quantizer_fault);
    std::set<ValueId> known;
    ir::for_each_operand(model_, node, [&](ValueId value) {
      if (model_[value].graph == model_.main_graph() && known.insert(value).second) {
        accused.operands.emplace_back(value, side.value(value));
      }
    });
    result_.accused.push_back(std::move(accused));
  }

  const ir::Model& model_;
  const WalkOptions& options_;
  LayerOracle oracle_;
  ops::Resolver callees_;
  std::vector<Side> sides_;
  std::deque<LayerOracle> oracles_;  // of the sides
  std::map<ValueId, Datum> truth_;
  mutable std::map<ValueId, Datum> constants_;  // of the layer at hand
  mutable std::mutex constants_mutex_;
  std::map<ValueId, uint64_t> uses_left_;
  WalkResult result_;
};

}  // namespace

WalkResult walk(const ir::Model& model, const std::vector<ops::InputDatum>& inputs, std::vector<SideValues> sides,
                const WalkOptions& options) {
  return Walk(model, std::move(sides), options).run(inputs);
}

}  // namespace assay::debug
