#include "engine/layers/convolution.h"

#include <algorithm>

namespace assay::engine {
namespace {

// The bias is an input of one dim, or left out.
bool is_float_convolution(const Layer& layer) {
  const tensor::DType dtype = layer.inputs.empty() ? tensor::DType::undefined : layer.inputs[0].dtype;
  if (!layer.starts_with("Conv") && !layer.starts_with("ConvTranspose")) return false;
  if (layer.outputs.size() != 1 || !is_short_float(dtype) || layer.outputs[0].dtype != dtype ||
      layer.inputs[1].dtype != dtype)
    return false;
  if (layer.constants[1] == nullptr || layer.outputs[0].count() == 0 || layer.inputs[0].count() == 0) return false;
  const ir::ValueId bias = layer.operand(layer.nodes[0], 2);
  return !bias.valid() || (layer.input_of(bias) >= 0 &&
                           has_layout(layer.inputs[static_cast<size_t>(layer.input_of(bias))], Layout::plain));
}

std::optional<ConvolutionForm> find_floats(const Layer& layer) {
  if (!is_float_convolution(layer)) return std::nullopt;
  const std::optional<ConvGeometry> geometry =
      conv_geometry(layer, layer.nodes[0], layer.inputs[0].dims, layer.inputs[1].dims);
  if (!geometry) return std::nullopt;
  const ir::ValueId bias = layer.operand(layer.nodes[0], 2);
  return ConvolutionForm{.geometry = *geometry,
                         .data = 0,
                         .weights = layer.constants[1],
                         .bias = bias.valid() ? layer.input_of(bias) : -1,
                         .done = 1,
                         .quantized = {},
                         .weight_zeros = {}};
}

// The geometry of a convolution of integers whose operand and result have elements.
std::optional<ConvGeometry> geometry_of_codes(const Layer& layer, ir::NodeId conv, int data,
                                              const tensor::Tensor& weights) {
  if (data < 0 || layer.outputs.size() != 1) return std::nullopt;
  const TensorDesc& in = layer.inputs[static_cast<size_t>(data)];
  if (in.count() == 0 || layer.outputs[0].count() == 0) return std::nullopt;
  return conv_geometry(layer, conv, in.dims, weights.shape());
}

std::optional<ConvolutionForm> find_codes(const Layer& layer) {
  const auto product = std::ranges::find_if(layer.nodes, [&](ir::NodeId node) { return layer.op(node) == "Conv"; });
  if (product == layer.nodes.end()) return std::nullopt;
  const auto done = static_cast<size_t>(product - layer.nodes.begin()) + 1;
  std::optional<QuantizedProduct> found =
      match_quantized(*layer.model, *layer.inference, std::span(layer.nodes).first(done), layer.constants_by_value());
  if (!found) return std::nullopt;
  const int data = layer.input_of(found->data);
  const std::optional<ConvGeometry> geometry = geometry_of_codes(layer, *product, data, *found->weights);
  if (!geometry) return std::nullopt;
  ConvolutionForm form{.geometry = *geometry,
                       .data = data,
                       .weights = found->weights,
                       .bias = -1,
                       .done = done,
                       .quantized = {},
                       .weight_zeros = found->zeros};
  form.quantized = std::move(found);
  return form;
}

// ConvInteger, and the Cast of its sums where there is one.
std::optional<ConvolutionForm> find_sums(const Layer& layer) {
  const ConstantOf constant = layer.constants_by_value();
  const std::optional<IntegerSums> sums = match_sums(*layer.model, *layer.inference, layer.nodes, constant);
  if (!sums) return std::nullopt;
  const int data = layer.input_of(sums->data);
  const std::optional<ConvGeometry> geometry = geometry_of_codes(layer, layer.nodes[0], data, *sums->weights);
  if (!geometry) return std::nullopt;
  return ConvolutionForm{.geometry = *geometry,
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

std::optional<ConvolutionForm> find_convolution(const Layer& layer) {
  if (layer.starts_with("ConvInteger")) return find_sums(layer);
  std::optional<ConvolutionForm> floats = find_floats(layer);
  return floats ? floats : find_codes(layer);
}

}  // namespace assay::engine
