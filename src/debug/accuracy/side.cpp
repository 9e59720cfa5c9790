#include "debug/accuracy/side.h"

#include <algorithm>

#include "debug/accuracy/layer_judge.h"
#include "ir/naming.h"
#include "ir/walk.h"
#include "ops/evaluate.h"
#include "ops/traits.h"

namespace assay::debug {
namespace {

using analysis::Samples;
using ir::NodeId;
using ir::ValueId;

// Layers that runtimes merge with those behind them: elementwise ones, and sums of spelled norms and softmax.
bool is_merged(const ops::Traits& traits) {
  return traits.is(ops::Nature::elementwise) || traits.is(ops::Nature::conversion) || traits.is(ops::Nature::reduction);
}

}  // namespace

Side::Side(const ir::Model& model, SideValues values, uint64_t max_memory_bytes, OperandSource truth)
    : model_(model),
      given_(std::move(values)),
      truth_(std::move(truth)),
      rounding_(std::make_unique<LayerRounding>(model, max_memory_bytes, given_.least_unit)) {}

const QuantizedValues* Side::quantized(NodeId node) const {
  const auto found = given_.quantized.find(node);
  return found == given_.quantized.end() ? nullptr : &found->second;
}

void Side::note_fault(NodeId node, const QuantizerFault& fault) {
  for (const ValueId value : model_[node].results) faults_.try_emplace(value, fault);
}

const QuantizerFault* Side::fault_before(NodeId node) const {
  const QuantizerFault* fault = nullptr;
  ir::for_each_operand(model_, node, [&](ValueId value) {
    const auto found = faults_.find(value);
    if (fault == nullptr && found != faults_.end()) fault = &found->second;
  });
  return fault;
}

bool Side::hides_codes(NodeId node) const {
  const QuantizedValues* const quantized = this->quantized(node);
  bool hides = false;
  ir::for_each_operand(model_, node, [&](ValueId value) {
    hides = hides || behind_hidden_.contains(value);
    if (quantized == nullptr) return;
    const auto found = quantized->find(value);
    hides = hides || (found != quantized->end() && !found->second.codes.is_tensor());
  });
  return hides;
}

Datum Side::value(ValueId value) const {
  const auto replaced = replaced_.find(value);
  if (replaced != replaced_.end()) return replaced->second;
  const auto given = given_.values.find(value);
  if (given != given_.values.end()) return given->second;
  const auto computed = computed_.find(value);
  return computed != computed_.end() ? computed->second : truth_(value);
}

void Side::take_type(ValueId value, const Datum& truth) {
  const auto given = given_.values.find(value);
  if (given == given_.values.end() || !is_numeric(given->second) || !is_numeric(truth)) return;
  const bool are_floats = tensor::is_floating(given->second.declared()) && tensor::is_floating(truth.declared());
  if (!are_floats || given->second.declared() == truth.declared()) return;
  given->second = Datum(ops::widen(given->second).tensor(), truth.declared());
}

bool Side::has_doubts(NodeId node) const {
  bool has_doubts = false;
  ir::for_each_operand(model_, node, [&](ValueId value) {
    has_doubts = has_doubts || (doubts_.contains(value) && !replaced_.contains(value));
  });
  return has_doubts;
}

bool Side::shows(NodeId node) const {
  return std::ranges::all_of(model_[node].results, [&](ValueId value) {
    return !value || model_[value].first_use == nullptr || gives(value);
  });
}

std::vector<std::string> Side::group_of(NodeId node) const {
  std::vector<std::string> group;
  ir::for_each_operand(model_, node, [&](ValueId value) {
    const auto found = groups_.find(value);
    if (found == groups_.end()) return;
    for (const std::string& name : found->second) {
      if (std::ranges::find(group, name) == group.end()) group.push_back(name);
    }
  });
  return group;
}

std::shared_ptr<LayerRuns> Side::make_runs(NodeId node, const std::vector<ValueId>& captured,
                                           const std::vector<Datum>& exact) const {
  auto runs = std::make_shared<LayerRuns>(LayerRuns{.node = node, .exact = exact});
  const auto add = [&](ValueId operand) {
    const auto doubt = doubts_.find(operand);
    const bool is_replaced = replaced_.contains(operand);
    if (doubt != doubts_.end() && !is_replaced) {
      runs->operands.push_back({operand, {}, doubt->second.maker, doubt->second.result});
    } else {
      const bool is_known = !operand || (model_[operand].constant && !is_replaced);
      runs->operands.push_back({operand, is_known ? Datum() : value(operand)});
    }
  };
  for (const ir::Use& use : model_[node].operands) add(use.value);
  for (const ValueId operand : captured) add(operand);
  return runs;
}

std::optional<std::vector<Samples>> Side::run_merged(NodeId node, size_t depth) {
  if (!model_.bodies(model_[node]).empty()) return std::nullopt;
  std::map<ValueId, Samples> operands;
  for (const ir::Use& use : model_[node].operands) {
    if (!use.value || operands.contains(use.value)) continue;
    std::optional<Samples> operand = merged_value(use.value, node, depth);
    if (!operand) return std::nullopt;
    operands[use.value] = std::move(*operand);
  }
  return rounding_->run(node, [&](ValueId value) { return operands.at(value); }, {});
}

// Infinity may be what a number has become only where it was shown.
bool Side::may_be_unused(NodeId maker, NodeId user, const Datum& shown) const {
  const ops::Traits& traits = ops::traits(model_, maker);
  const bool is_folded = traits.has_bias && !model_[user].is_outputs && ops::traits(model_, user).is_affine();
  return is_merged(traits) || is_folded || (is_numeric(shown) && !are_finite(shown));
}

std::optional<Samples> Side::merged_value(ValueId wanted, NodeId user, size_t depth) {
  const NodeId maker = model_[wanted].producer;
  const Datum known = value(wanted);
  if (maker && depth > 0 && may_be_unused(maker, user, known)) {
    std::optional<std::vector<Samples>> made = run_merged(maker, depth - 1);
    if (made && !made->empty()) return std::move(made->front());
  }
  return known.is_none() ? std::nullopt : std::optional(rounding_->shown(wanted, known));
}

void Side::take_for_granted(NodeId node, size_t result, const Datum& exact, const std::shared_ptr<LayerRuns>& runs) {
  const ValueId value = model_[node].results[result];
  computed_[value] = exact;
  if (model_[node].operands.empty()) return;
  if (runs && !runs->is_certain(result)) doubts_[value] = {runs, result};
  if (hides_codes(node)) behind_hidden_.insert(value);
  if (const QuantizerFault* const fault = fault_before(node)) faults_.try_emplace(value, *fault);
  std::vector<std::string> group = group_of(node);
  group.emplace_back(ir::known_name(model_, node));
  groups_[value] = std::move(group);
}

void Side::drop_used(std::vector<ValueId> values) {
  for (const ValueId value : values) doubts_.erase(value);
  used_.push_back(std::move(values));
  if (used_.size() <= kMostMerged) return;
  for (const ValueId value : used_.front()) {
    given_.values.erase(value);
    computed_.erase(value);
  }
  used_.erase(used_.begin());
}

}  // namespace assay::debug
