#include "engine/devices/cpu/resize_layer.h"

#include "tensor/elements.h"

namespace assay::engine::cpu {
namespace {

bool is_known(const Layer& layer) {
  for (size_t i = 1; i < layer.inputs.size(); ++i) {
    if (layer.inputs[i].exists() && layer.constants[i] == nullptr) return false;
  }
  const TensorDesc& in = layer.inputs[0];
  const TensorDesc& out = layer.outputs[0];
  if (in.count() == 0 || out.count() == 0) return false;
  const auto both = [&](Layout layout) { return has_layout(in, layout) && has_layout(out, layout); };
  return both(Layout::plain) || both(Layout::channels_last);
}

}  // namespace

std::optional<std::vector<ops::ResampledAxis>> find_resize(const Layer& layer) {
  const bool is_resize = layer.starts_with("Resize") || layer.starts_with("Upsample");
  if (!is_resize || !layer.is_single() || !is_known(layer)) return std::nullopt;
  const ops::Node facts = layer.facts(layer.nodes[0]);
  if (ops::resize_coordinate_mode(facts) == "tf_crop_and_resize") return std::nullopt;
  return ops::plan_resize(facts, layer.inputs[0].dims, layer.outputs[0].dims, [&](uint32_t input) {
    const tensor::Tensor* const given = layer.constant(layer.operand(layer.nodes[0], input));
    return given == nullptr ? std::vector<double>() : tensor::load_elements<double>(*given);
  });
}

}  // namespace assay::engine::cpu
