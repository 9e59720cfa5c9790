#include "engine/devices/cpu/conv_source.h"

#include <algorithm>
#include <array>

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
                    .quantized = {},
                    .weight_zeros = {}};
}

bool are_pictures(const Layer& layer, int data) {
  const TensorDesc& in = layer.inputs[static_cast<size_t>(data)];
  return std::ranges::all_of(std::array{&in, &layer.outputs[0]}, [](const TensorDesc* desc) {
    return has_layout(*desc, Layout::channels_last) && desc->count() > 0;
  });
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
  if (data < 0 || !are_pictures(layer, data)) return std::nullopt;
  const tensor::Shape& in = layer.inputs[static_cast<size_t>(data)].dims;
  const std::optional<ConvGeometry> geometry = conv_geometry(layer, *product, in, found->weights->shape());
  if (!geometry) return std::nullopt;
  ConvSource source{.geometry = *geometry,
                    .data = data,
                    .weights = found->weights,
                    .bias = -1,
                    .done = done,
                    .quantized = {},
                    .weight_zeros = found->zeros};
  source.quantized = std::move(found);
  return source;
}

// ConvInteger, and the Cast of its sums where there is one.
std::optional<ConvSource> sums_source(const Layer& layer) {
  const ConstantOf constant = [&](ir::ValueId value) { return layer.constant(value); };
  const std::optional<IntegerSums> sums = match_sums(*layer.model, *layer.inference, layer.nodes, constant);
  if (!sums || layer.outputs.size() != 1) return std::nullopt;
  const int data = layer.input_of(sums->data);
  if (data < 0 || !are_pictures(layer, data)) return std::nullopt;
  const tensor::Shape& in = layer.inputs[static_cast<size_t>(data)].dims;
  const std::optional<ConvGeometry> geometry = conv_geometry(layer, layer.nodes[0], in, sums->weights->shape());
  if (!geometry) return std::nullopt;
  return ConvSource{.geometry = *geometry,
                    .data = data,
                    .weights = sums->weights,
                    .bias = -1,
                    .done = sums->become_floats ? size_t{2} : size_t{1},
                    .quantized = {},
                    .is_sum = true,
                    .zero = sums->zero.valid() ? layer.input_of(sums->zero) : -1,
                    .weight_zeros = sums->zeros};
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
  if (layer.starts_with("ConvInteger")) return sums_source(layer);
  std::optional<ConvSource> source = float_source(layer);
  return source ? source : integer_source(layer);
}

}  // namespace assay::engine::cpu
