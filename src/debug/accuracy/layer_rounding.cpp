#include "debug/accuracy/layer_rounding.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/moves.h"
#include "analysis/products.h"
#include "base/error.h"
#include "base/parallel.h"
#include "ops/evaluate.h"
#include "tensor/casts.h"

namespace assay::debug {
namespace {

constexpr uint32_t kProduct = 1000;  // draws other numbers than any operand

template <typename Fn>
void for_all(uint64_t count, Fn&& fn) {
  parallel_for(count, 16384, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) fn(i);
  });
}

// The second of the first two goes in the opposite direction.
analysis::MoveKey key_of_run(analysis::MoveKey key, uint32_t run, uint32_t runs) {
  if (runs == analysis::kMovedRuns)
    key.run = run;
  else
    key.draw = run == 0 ? analysis::Draw::signs : analysis::Draw::opposite_signs;
  return key;
}

std::vector<Datum> inputs_of(const ir::Node& node, const OperandSource& operands) {
  std::vector<Datum> inputs;
  for (const ir::Use& use : node.operands) inputs.push_back(use.value ? operands(use.value) : Datum());
  return inputs;
}

}  // namespace

LayerRounding::LayerRounding(const ir::Model& model, uint64_t max_memory_bytes, double least_roundoff)
    : model_(model),
      least_roundoff_(least_roundoff),
      runs_(model, {.max_memory_bytes = max_memory_bytes}, 1, least_roundoff) {}

RoughAllowance LayerRounding::roughly(ir::NodeId node, const OperandSource& operands,
                                      const std::vector<Datum>& exact) const {
  const analysis::Rounding rounding = analysis::rounding_of(model_, node, inputs_of(model_[node], operands), exact);
  const bool is_floating = !exact.empty() && exact[0].is_tensor() && tensor::is_floating(exact[0].declared());
  if (!is_floating) return {};
  const tensor::DType type = exact[0].declared();
  const double least = 2 * analysis::least_share(type, least_roundoff_);
  if (rounding.kind != analysis::RoundingKind::rounded) return {.own = least, .rms = least};
  // The share of the limits in analysis::allowance_of that an even distribution of this amplitude makes by itself.
  const double moved = rounding.output * std::max(analysis::arithmetic_roundoff(type), least_roundoff_);
  return {.own = least + moved, .around = 4 * moved, .rms = least + 1.6 * moved};
}

std::optional<compare::Allowance> LayerRounding::of_products(ir::NodeId node, const OperandSource& operands,
                                                             const Datum& exact, LayerOracle& oracle) const {
  const std::optional<std::vector<double>> squares = product_squares(node, operands, exact, oracle);
  return squares ? std::optional(analysis::allowance_of(exact, *squares, least_roundoff_)) : std::nullopt;
}

std::vector<float> LayerRounding::deviations_of_products(ir::NodeId node, const OperandSource& operands,
                                                         const Datum& exact, LayerOracle& oracle) const {
  const std::optional<std::vector<double>> squares = product_squares(node, operands, exact, oracle);
  if (!squares) return {};
  std::vector<float> deviations(squares->size());
  for_all(deviations.size(), [&](uint64_t i) { deviations[i] = static_cast<float>(std::sqrt((*squares)[i])); });
  return deviations;
}

analysis::Samples LayerRounding::drawn(ir::NodeId node, const Datum& exact, std::span<const float> deviations,
                                       uint32_t runs) {
  analysis::Samples samples{.nominal = analysis::nominal_of(exact)};
  for (uint32_t run = 0; run < runs; ++run) {
    const analysis::MoveKey key = key_of_run({.node = node.index, .operand = kProduct}, run, runs);
    samples.add_run(analysis::moved_by(exact, deviations, key));
  }
  analysis::settle(samples);
  return samples;
}

// The mean squares of what moved roundings do to sums of products.
std::optional<std::vector<double>> LayerRounding::product_squares(ir::NodeId node, const OperandSource& operands,
                                                                  const Datum& exact, LayerOracle& oracle) const {
  if (!analysis::is_product_of_rows(model_, node)) return std::nullopt;
  const std::vector<Datum> inputs = inputs_of(model_[node], operands);
  const analysis::Rounding rounding = analysis::rounding_of(model_, node, inputs, {&exact, 1});
  if (rounding.kind != analysis::RoundingKind::rounded) return std::nullopt;
  double of_operands = 0;  // halves of steps that were rounded only to be shown, and of folded weights
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_folded = i == 1 && rounding.folds_weights;
    if (!is_folded && !may_be_wider(model_[node].operands[i].value, inputs[i])) continue;
    const double half = analysis::roundoff(inputs[i].declared());
    of_operands += half * half / 3;
  }
  const double unit = std::max(analysis::arithmetic_roundoff(exact.declared()), least_roundoff_);
  const std::span<const ir::Use> uses = model_[node].operands;
  return analysis::product_squares(
      inputs, exact, {rounding, unit, of_operands}, [&](const std::vector<Datum>& squares) {
        return oracle.exact(node, [&](ir::ValueId value) {
          return squares[static_cast<size_t>(std::ranges::find(uses, value, &ir::Use::value) - uses.begin())];
        })[0];
      });
}

bool LayerRounding::may_be_wider(ir::ValueId value, const Datum& datum) const {
  if (!value || !model_[value].producer || !is_numeric(datum)) return false;
  return datum.declared() == tensor::DType::float16 || datum.declared() == tensor::DType::bfloat16;
}

analysis::Samples LayerRounding::shown(ir::ValueId value, Datum datum, uint32_t runs) const {
  analysis::Samples samples{.nominal = std::move(datum)};
  if (!may_be_wider(value, samples.nominal)) return samples;
  const Datum wide = ops::widen(samples.nominal);
  for (uint32_t run = 0; run < runs; ++run) {
    const analysis::MoveKey key =
        key_of_run({.node = value.index, .least_roundoff = analysis::roundoff(wide.declared())}, run, runs);
    samples.add_run(analysis::moved_input(wide, 1, key));
  }
  return samples;
}

std::vector<analysis::Samples> LayerRounding::run(ir::NodeId node, const SamplesSource& operands,
                                                  const std::vector<ir::ValueId>& captured) {
  std::vector<analysis::Samples> given;
  for (const ir::Use& use : model_[node].operands)
    given.push_back(use.value ? operands(use.value) : analysis::Samples());
  for (const ir::ValueId value : captured) given.push_back(operands(value));
  std::vector<const analysis::Samples*> inputs;
  std::vector<std::pair<ir::ValueId, const analysis::Samples*>> outer;
  std::string unknown;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i].unknown.empty()) unknown = given[i].unknown;
    if (i < model_[node].operands.size())
      inputs.push_back(&given[i]);
    else
      outer.emplace_back(captured[i - model_[node].operands.size()], &given[i]);
  }
  runs_.start();
  if (unknown.empty()) return runs_.run({node, inputs, outer});
  return std::vector<analysis::Samples>(model_[node].results.size(), analysis::Samples{.unknown = unknown});
}

std::optional<analysis::FirstRuns> LayerRounding::run_first(ir::NodeId node, const SamplesSource& operands,
                                                            const std::vector<Datum>& exact, uint32_t runs) {
  if (!model_.bodies(model_[node]).empty()) return std::nullopt;
  std::vector<analysis::Samples> given;
  for (const ir::Use& use : model_[node].operands)
    given.push_back(use.value ? operands(use.value) : analysis::Samples());
  std::vector<const analysis::Samples*> inputs;
  for (const analysis::Samples& samples : given) {
    if (!samples.unknown.empty()) return std::nullopt;
    inputs.push_back(&samples);
  }
  runs_.start();
  return runs_.run_first({node, inputs, {}}, exact, runs);
}

}  // namespace assay::debug
