#include "engine/devices/cpu/conv_source.h"

#include <algorithm>

#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu {
namespace {

std::optional<ConvSource> float_source(const Layer& layer) {
  if (!is_convolution(layer)) return std::nullopt;
  const std::optional<ConvGeometry> geometry =
      conv_geometry(layer, layer.nodes[0], layer.inputs[0].dims, layer.inputs[1].dims);
  if (!geometry) return std::nullopt;
  const ir::ValueId bias = layer.operand(layer.nodes[0], 2);
  return ConvSource{.geometry = *geometry,
                    .data = 0,
                    .weights = layer.constants[1],
                    .bias = bias.valid() ? layer.input_of(bias) : -1,
                    .done = 1,
                    .quantized = {}};
}

std::optional<ConvSource> integer_source(const Layer& layer) {
  const auto product = std::ranges::find_if(layer.nodes, [&](ir::NodeId node) { return layer.op(node) == "Conv"; });
  if (product == layer.nodes.end() || layer.outputs.size() != 1) return std::nullopt;
  const auto done = static_cast<size_t>(product - layer.nodes.begin()) + 1;
  std::optional<QuantizedProduct> found =
      match_quantized(*layer.model, *layer.inference, std::span(layer.nodes).first(done),
                      [&](ir::ValueId value) { return layer.constant(value); });
  if (!found) return std::nullopt;
  const int data = layer.input_of(found->data);
  if (data < 0) return std::nullopt;
  const TensorDesc& in = layer.inputs[static_cast<size_t>(data)];
  for (const TensorDesc* const desc : {&in, &layer.outputs[0]}) {
    if (!has_layout(*desc, Layout::channels_last) || desc->count() == 0) return std::nullopt;
  }
  const std::optional<ConvGeometry> geometry = conv_geometry(layer, *product, in.dims, found->weights->shape());
  if (!geometry) return std::nullopt;
  const tensor::Tensor* const weights = found->weights;
  return ConvSource{
      .geometry = *geometry, .data = data, .weights = weights, .bias = -1, .done = done, .quantized = std::move(found)};
}

}  // namespace

bool is_convolution(const Layer& layer) {
  const tensor::DType dtype = layer.inputs.empty() ? tensor::DType::undefined : layer.inputs[0].dtype;
  if (!layer.starts_with("Conv") && !layer.starts_with("ConvTranspose")) return false;
  if (layer.outputs.size() != 1 || !is_float(dtype) || layer.outputs[0].dtype != dtype ||
      layer.inputs[1].dtype != dtype)
    return false;
  if (layer.constants[1] == nullptr || !has_layout(layer.inputs[0], Layout::channels_last) ||
      !has_layout(layer.outputs[0], Layout::channels_last) || layer.outputs[0].count() == 0 ||
      layer.inputs[0].count() == 0) {
    return false;
  }
  const ir::ValueId bias_value = layer.operand(layer.nodes[0], 2);
  const int bias = bias_value.valid() ? layer.input_of(bias_value) : 0;
  return bias >= 0 &&
         has_layout(layer.inputs[static_cast<size_t>(bias)], bias == 0 ? Layout::channels_last : Layout::plain);
}

std::optional<ConvSource> find_conv_source(const Layer& layer) {
  std::optional<ConvSource> source = float_source(layer);
  return source ? source : integer_source(layer);
}

}  // namespace assay::engine::cpu
