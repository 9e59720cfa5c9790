#include "engine/layers/resize.h"

#include "tensor/elements.h"

namespace assay::engine {
namespace {

bool is_known(const Layer& layer) {
  for (size_t i = 1; i < layer.inputs.size(); ++i) {
    if (layer.inputs[i].exists() && layer.constants[i] == nullptr) return false;
  }
  return layer.inputs[0].count() > 0 && layer.outputs[0].count() > 0;
}

}  // namespace

std::optional<ResizeForm> find_resize(const Layer& layer) {
  const bool is_resize = layer.starts_with("Resize") || layer.starts_with("Upsample");
  if (!is_resize || !layer.is_single() || !is_known(layer)) return std::nullopt;
  const ops::Node facts = layer.facts(layer.nodes[0]);
  if (ops::resize_coordinate_mode(facts) == "tf_crop_and_resize") return std::nullopt;
  return ResizeForm{ops::plan_resize(facts, layer.inputs[0].dims, layer.outputs[0].dims, [&](uint32_t input) {
    const tensor::Tensor* const given = layer.constant(layer.operand(layer.nodes[0], input));
    return given == nullptr ? std::vector<double>() : tensor::load_elements<double>(*given);
  })};
}

}  // namespace assay::engine
