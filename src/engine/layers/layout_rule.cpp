#include "engine/layers/layout_rule.h"

#include <algorithm>
#include <array>

#include "engine/layers/elementwise.h"
#include "engine/layers/form.h"

namespace assay::engine {
namespace {

// Operators over pictures that are computed with the channels innermost.
constexpr std::array<std::string_view, 8> kPictures = {"Conv",        "ConvInteger",       "ConvTranspose", "MaxPool",
                                                       "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "RoiAlign"};

// True for single operators that are computed in whatever order their dims lie.
bool reads_any_order(const Layer& layer) {
  constexpr std::array<std::string_view, 7> kOperators = {"Concat",       "DynamicQuantizeLinear", "Resize", "Upsample",
                                                          "DepthToSpace", "SpaceToDepth",          "Pad"};
  const ir::NodeId node = layer.nodes.front();
  if (std::ranges::find(kOperators, layer.op(node)) != kOperators.end() || gives_places(layer)) return true;
  const auto* const softmax = form_as<SoftmaxForm>(layer);
  return softmax != nullptr && layer.inputs[0].dtype == tensor::DType::float32 && !softmax->flattens;
}

}  // namespace

LayoutRule usual_layout_rule(const Layer& layer) {
  const auto is_picture = [&](ir::NodeId node) {
    return std::ranges::find(kPictures, layer.op(node)) != kPictures.end();
  };
  if (std::ranges::any_of(layer.nodes, is_picture) && !gives_places(layer)) return LayoutRule::channels_last;
  const auto is_simple = [&](ir::NodeId node) { return is_elementwise(*layer.inference, *layer.model, node); };
  if (form_as<ChannelNormForm>(layer) != nullptr) return LayoutRule::follows;
  if (layer.is_single() && reads_any_order(layer)) return LayoutRule::follows;
  // Elementwise operators, perhaps with a reduction behind them.
  const bool reduces = layer.op(layer.nodes.back()).starts_with("Reduce");
  const std::span<const ir::NodeId> nodes(layer.nodes);
  if (std::ranges::all_of(nodes.first(nodes.size() - (reduces ? 1 : 0)), is_simple)) return LayoutRule::follows;
  return LayoutRule::plain;
}

}  // namespace assay::engine
