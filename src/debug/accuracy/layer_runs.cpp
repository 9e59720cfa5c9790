#include "debug/accuracy/layer_runs.h"

#include <algorithm>

namespace assay::debug {
namespace {

constexpr size_t kMostBegun = 16;  // layers in a row, which have to be kept

const LayerRuns::Operand& operand_of(const LayerRuns& layer, ir::ValueId value) {
  return *std::ranges::find(layer.operands, value, &LayerRuns::Operand::value);
}

}  // namespace

void LayerRunner::begin(LayerRuns& layer) {
  for (const LayerRuns::Operand& operand : layer.operands) {
    const bool is_pending = operand.maker && !operand.maker->is_complete();
    if (is_pending) layer.depth = std::max(layer.depth, operand.maker->depth + 1);
  }
  const auto is_shown = [](const LayerRuns::Operand& operand) { return operand.maker == nullptr; };
  if (std::ranges::all_of(layer.operands, is_shown) && layer.exact.size() == 1) {
    const auto operands = [&](ir::ValueId value) { return datum_of(layer, value); };
    layer.deviations = rounding_.deviations_of_products(layer.node, operands, layer.exact[0], oracle_);
  }
  if (!layer.deviations.empty()) layer.operands.clear();
  run(layer, layer.depth > kMostBegun ? analysis::kMovedRuns : 1);
}

void LayerRunner::run(LayerRuns& layer, uint32_t runs) {
  if (layer.runs >= runs) return;
  for (const LayerRuns::Operand& operand : layer.operands) {
    if (operand.maker) run(*operand.maker, runs);
  }
  layer.runs = runs;
  if (!layer.deviations.empty()) {
    layer.results = {LayerRounding::drawn(layer.node, layer.exact[0], layer.deviations, runs)};
  } else if (layer.is_complete() || !run_first(layer, runs)) {
    run_all(layer);
  }
  if (layer.is_complete()) finish(layer);
}

bool LayerRunner::run_first(LayerRuns& layer, uint32_t runs) {
  std::optional<analysis::FirstRuns> first =
      rounding_.run_first(layer.node, samples_of(layer, runs), layer.exact, runs);
  if (!first) return false;
  layer.results = std::move(first->results);
  const auto is_known = [](const LayerRuns::Operand& operand) {
    return !operand.maker || operand.maker->is_complete();
  };
  if (first->is_all && std::ranges::all_of(layer.operands, is_known)) layer.runs = analysis::kMovedRuns;
  return true;
}

void LayerRunner::run_all(LayerRuns& layer) {
  layer.runs = analysis::kMovedRuns;
  std::vector<ir::ValueId> captured;
  for (size_t i = 0; i < layer.operands.size(); ++i) {
    const LayerRuns::Operand& operand = layer.operands[i];
    if (operand.maker) run(*operand.maker, layer.runs);
    if (i >= model_[layer.node].operands.size()) captured.push_back(operand.value);
  }
  layer.results = rounding_.run(layer.node, samples_of(layer, layer.runs), captured);
}

void LayerRunner::finish(LayerRuns& layer) {
  layer.operands.clear();
  layer.deviations.clear();
  layer.deviations.shrink_to_fit();
  layer.exact.clear();
}

Datum LayerRunner::datum_of(const LayerRuns& layer, ir::ValueId value) const {
  const Datum& datum = operand_of(layer, value).datum;
  return datum.is_none() && model_[value].constant ? constants_(value) : datum;
}

LayerRounding::SamplesSource LayerRunner::samples_of(const LayerRuns& layer, uint32_t runs) const {
  return [this, &layer, runs](ir::ValueId value) {
    const LayerRuns::Operand& operand = operand_of(layer, value);
    if (operand.maker) return operand.maker->results[operand.result];
    return rounding_.shown(value, datum_of(layer, value), runs);
  };
}

}  // namespace assay::debug
