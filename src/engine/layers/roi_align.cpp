#include "engine/layers/roi_align.h"

namespace assay::engine {

std::optional<RoiForm> find_roi_align(const Layer& layer) {
  if (!layer.is_single() || !layer.starts_with("RoiAlign") || layer.inputs.size() != 3) return std::nullopt;
  for (const TensorDesc& desc : {layer.inputs[0], layer.outputs[0]}) {
    if (!has_layout(desc, Layout::channels_last) || desc.count() == 0) return std::nullopt;
  }
  const bool are_read = layer.inputs[2].dtype == tensor::DType::int64 && has_layout(layer.inputs[1], Layout::plain) &&
                        has_layout(layer.inputs[2], Layout::plain);
  constexpr int64_t kMostSamples = 64;  // of more, the reference says whether they are too many
  const ops::Node facts = layer.facts(layer.nodes[0]);
  const ops::RoiRules rules(facts);
  if (!are_read || rules.ratio > kMostSamples) return std::nullopt;
  return RoiForm{rules, facts.string("mode") == "max"};
}

}  // namespace assay::engine
