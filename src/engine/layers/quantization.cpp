#include "engine/layers/quantization.h"

#include <algorithm>
#include <cmath>

#include "engine/layers/float8_pair.h"
#include "engine/layers/layer.h"
#include "ir/queries.h"
#include "ir/walk.h"
#include "ops/node.h"
#include "ops/traits.h"
#include "tensor/elements.h"

namespace assay::engine {
namespace {

using tensor::DType;
using tensor::Tensor;

bool is_code(DType dtype) { return dtype == DType::int8 || dtype == DType::uint8; }

DType dtype_of(const ir::Model& model, const ops::Inference& inference, ir::ValueId value) {
  const ir::TensorId constant = model[value].constant;
  if (model[value].kind == ir::ValueKind::initializer && constant.valid() && !model[constant].sparse) {
    return model[constant].tensor.dtype();
  }
  const ops::Type& type = inference.type(value);
  return type.is_tensor() ? type.dtype : DType::undefined;
}

// The numbers of a constant; empty: it is computed.
std::vector<double> numbers_of(const Tensor* tensor) {
  return tensor == nullptr ? std::vector<double>() : tensor::load_elements<double>(*tensor);
}

// The zero points of weights with so many result channels or columns; empty: all are 0. nullopt: they are computed, or
// others.
std::optional<std::vector<int32_t>> weight_zeros(ir::ValueId value, int64_t channels, const ConstantOf& constant) {
  if (!value.valid()) return std::vector<int32_t>();
  const std::vector<double> numbers = numbers_of(constant(value));
  const auto count = static_cast<size_t>(channels);
  if (numbers.empty() || (numbers.size() != 1 && numbers.size() != count)) return {};
  if (std::ranges::all_of(numbers, [](double zero) { return zero == 0; })) return std::vector<int32_t>();
  std::vector<int32_t> zeros(count, static_cast<int32_t>(numbers[0]));
  if (numbers.size() == count) std::ranges::copy(numbers, zeros.begin());
  return zeros;
}

class Matcher {
 public:
  Matcher(const ir::Model& model, const ops::Inference& inference, std::span<const ir::NodeId> nodes,
          const ConstantOf& constant)
      : model_(model), inference_(inference), nodes_(nodes), constant_(constant) {}

  std::optional<QuantizedProduct> match() {
    found_.product = nodes_.back();
    if (!is_product()) return std::nullopt;
    const ir::NodeId data = producer(0);
    if (!data.valid() || !ir::is_op(model_, data, "DequantizeLinear")) return std::nullopt;
    const std::optional<Quantizer> quantizer = quantizer_of(data);
    if (!quantizer) return std::nullopt;
    found_.data = ir::operand(model_, data, 0);
    found_.quantizer = *quantizer;
    if (constant_(found_.data) != nullptr) return std::nullopt;
    if (!match_weights() || !match_bias()) return std::nullopt;
    return found_;
  }

 private:
  std::optional<Quantizer> quantizer_of(ir::NodeId data) const {
    const DType codes = dtype_of(model_, inference_, ir::operand(model_, data, 0));
    if (codes != DType::float8e4m3fn) return find_quantizer(model_, inference_, data, constant_);
    if (!is_float8_step(model_, inference_, data) || ir::is_op(model_, found_.product, "Conv")) return {};
    return Quantizer{.codes = codes,
                     .scale = static_cast<float>(numbers_of(constant_(ir::operand(model_, data, 1)))[0])};
  }

  bool is_product() const {
    if (inference_.callees()[found_.product].op == nullptr) return false;
    if (!ir::is_op(model_, found_.product, "Gemm"))
      return ir::is_op(model_, found_.product, "Conv") || ir::is_op(model_, found_.product, "MatMul");
    const ops::Node facts = node_facts(model_, inference_, found_.product);
    return facts.floating("alpha", 1) == 1 && facts.floating("beta", 1) == 1 && !facts.flag("transA");
  }

  // The axis of result channels or columns in the weights.
  int64_t channel_axis() const {
    if (ir::is_op(model_, found_.product, "Conv")) return 0;
    return ir::is_op(model_, found_.product, "Gemm") && node_facts(model_, inference_, found_.product).flag("transB")
               ? 0
               : 1;
  }

  // The node before the product that makes its operand; invalid: none of these nodes.
  ir::NodeId producer(size_t index) const {
    const ir::ValueId value = ir::operand(model_, found_.product, index);
    if (!value.valid()) return {};
    for (const ir::NodeId node : nodes_.first(nodes_.size() - 1)) {
      if (model_[node].results.front() == value) return node;
    }
    return {};
  }

  bool match_weights() {
    const ir::NodeId node = producer(1);
    if (!node.valid() || !ir::is_op(model_, node, "DequantizeLinear")) return false;
    found_.weights = constant_(ir::operand(model_, node, 0));
    const DType wanted = found_.is_of_float8() ? found_.quantizer.codes : DType::int8;
    if (found_.weights == nullptr || found_.weights->dtype() != wanted) return false;
    const tensor::Shape& dims = found_.weights->shape();
    const bool is_conv = ir::is_op(model_, found_.product, "Conv");
    if (is_conv ? dims.size() != 3 && dims.size() != 4 : dims.size() != 2) return false;
    const int64_t channels = dims[static_cast<size_t>(channel_axis())];
    std::optional<std::vector<int32_t>> zeros = weight_zeros(ir::operand(model_, node, 2), channels, constant_);
    if (!zeros) return false;
    found_.zeros = *std::move(zeros);
    const std::vector<double> scales = numbers_of(constant_(ir::operand(model_, node, 1)));
    const ops::Node facts = node_facts(model_, inference_, node);
    const int64_t axis = facts.integer("axis", 1);
    const bool is_by_channel = ops::normalize_axis(axis, static_cast<int64_t>(dims.size())) == channel_axis() &&
                               scales.size() == static_cast<size_t>(channels);
    if ((scales.size() != 1 && !is_by_channel) || facts.integer("block_size", 0) != 0) return false;
    found_.scales.assign(scales.begin(), scales.end());
    return true;
  }

  bool match_bias() {
    const ir::ValueId value = ir::operand(model_, found_.product, 2);
    if (!value.valid()) return true;
    const ir::NodeId node = producer(2);
    std::vector<double> bias = numbers_of(constant_(node.valid() ? ir::operand(model_, node, 0) : value));
    if (bias.size() != static_cast<size_t>(found_.weights->shape()[static_cast<size_t>(channel_axis())])) return false;
    if (node.valid()) {
      const std::vector<double> scales = numbers_of(constant_(ir::operand(model_, node, 1)));
      const ir::ValueId point = ir::operand(model_, node, 2);
      const std::vector<double> zeros = point.valid() ? numbers_of(constant_(point)) : std::vector<double>{0};
      if (scales.empty() || (scales.size() != 1 && scales.size() != bias.size())) return false;
      if (zeros.empty() || !std::ranges::all_of(zeros, [](double zero) { return zero == 0; })) return false;
      for (size_t i = 0; i < bias.size(); ++i) bias[i] *= scales[scales.size() == 1 ? 0 : i];
    }
    found_.bias.assign(bias.begin(), bias.end());
    return true;
  }

  const ir::Model& model_;
  const ops::Inference& inference_;
  std::span<const ir::NodeId> nodes_;
  const ConstantOf& constant_;
  QuantizedProduct found_;
};

}  // namespace

bool has_quantizers(const ir::Model& model) {
  for (const ir::NodeId node : ir::live_nodes(model)) {
    const std::string_view op = model.text(model[node].op);
    if (op == "QuantizeLinear" || op == "DynamicQuantizeLinear") return true;
  }
  return false;
}

bool quantizes_by_range(const Layer& layer) {
  const ops::Traits& traits = ops::traits(*layer.model, layer.nodes[0]);
  const bool is_quantizer = traits.is(ops::Nature::quantization) && traits.coding == ops::Coding::encodes_by_range;
  if (!is_quantizer || !layer.is_single() || layer.outputs.size() != 3) return false;
  const TensorDesc& in = layer.inputs[0];
  const bool is_known = in.dtype == DType::float32 && is_dense(in) && in.strides == layer.outputs[0].strides;
  return is_known && std::ranges::all_of(layer.outputs, &TensorDesc::exists) && in.count() > 0;
}

bool is_quantizer(const ir::Model& model, const ops::Inference& inference, ir::NodeId node) {
  const bool quantizes = ir::is_op(model, node, "QuantizeLinear");
  if ((!quantizes && !ir::is_op(model, node, "DequantizeLinear")) || inference.callees()[node].op == nullptr)
    return false;
  const ir::ValueId codes = quantizes ? model[node].results.front() : ir::operand(model, node, 0);
  const ir::ValueId floats = quantizes ? ir::operand(model, node, 0) : model[node].results.front();
  if (!is_code(dtype_of(model, inference, codes))) return false;
  if (dtype_of(model, inference, floats) != DType::float32) return false;
  const ir::ValueId scale = ir::operand(model, node, 1);
  const std::optional<TensorDesc> desc = find_desc(model, inference, scale);
  return desc && desc->dtype == DType::float32 && desc->count() == 1;
}

std::optional<Quantizer> find_quantizer(const ir::Model& model, const ops::Inference& inference, ir::NodeId node,
                                        const ConstantOf& constant) {
  if (!is_quantizer(model, inference, node)) return {};
  const bool quantizes = ir::is_op(model, node, "QuantizeLinear");
  const Tensor* const scale = constant(ir::operand(model, node, 1));
  if (scale == nullptr) return {};
  Quantizer found;
  found.codes = dtype_of(model, inference, quantizes ? model[node].results.front() : ir::operand(model, node, 0));
  found.scale = static_cast<float>(numbers_of(scale)[0]);
  if (!(found.scale > 0) || !std::isfinite(found.scale)) return {};
  const ir::ValueId zero = ir::operand(model, node, 2);
  if (!zero.valid()) return found;
  const Tensor* const point = constant(zero);
  if (point == nullptr || point->count() != 1) return {};
  found.zero = static_cast<int32_t>(numbers_of(point)[0]);
  return found;
}

std::vector<int64_t> sums_of_channels(const tensor::Tensor& weights, size_t axis) {
  const tensor::Shape& dims = weights.shape();
  const auto channels = static_cast<size_t>(dims[axis]);
  size_t inner = 1;
  for (size_t i = axis + 1; i < dims.size(); ++i) inner *= static_cast<size_t>(dims[i]);
  std::vector<int64_t> sums(channels);
  const auto* const codes = reinterpret_cast<const int8_t*>(weights.bytes().data());
  for (size_t i = 0; i < weights.count(); ++i) sums[i / inner % channels] += codes[i];
  return sums;
}

namespace {

bool is_cast_to_float(const ir::Model& model, const ops::Inference& inference, ir::NodeId node, ir::ValueId given) {
  return ir::is_op(model, node, "Cast") && ir::operand(model, node, 0) == given &&
         dtype_of(model, inference, model[node].results[0]) == DType::float32;
}

}  // namespace

std::optional<IntegerSums> match_sums(const ir::Model& model, const ops::Inference& inference,
                                      std::span<const ir::NodeId> nodes, const ConstantOf& constant) {
  if (nodes.empty()) return {};
  const bool is_conv = ir::is_op(model, nodes[0], "ConvInteger");
  if ((!is_conv && !ir::is_op(model, nodes[0], "MatMulInteger")) || inference.callees()[nodes[0]].op == nullptr)
    return {};
  if (nodes.size() > 1 && !is_cast_to_float(model, inference, nodes[1], model[nodes[0]].results[0])) return {};
  IntegerSums found{.data = ir::operand(model, nodes[0], 0),
                    .zero = ir::operand(model, nodes[0], 2),
                    .weights = constant(ir::operand(model, nodes[0], 1)),
                    .become_floats = nodes.size() > 1};
  if (found.weights == nullptr || found.weights->dtype() != DType::int8) return {};
  const tensor::Shape& dims = found.weights->shape();
  if (is_conv ? dims.size() != 3 && dims.size() != 4 : dims.size() != 2) return {};
  if (constant(found.data) != nullptr) return {};
  const std::optional<TensorDesc> zero = found.zero.valid() ? find_desc(model, inference, found.zero) : std::nullopt;
  if (found.zero.valid() && (!zero || zero->count() != 1)) return {};
  std::optional<std::vector<int32_t>> zeros =
      weight_zeros(ir::operand(model, nodes[0], 3), dims[is_conv ? 0 : 1], constant);
  if (!zeros) return {};
  found.zeros = *std::move(zeros);
  return found;
}

QuantizedProduct without_zero_point(QuantizedProduct product, size_t axis) {
  if (product.quantizer.zero == 0) return product;
  const std::vector<int64_t> sums = sums_of_channels(*product.weights, axis);
  product.bias.resize(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    const double scale =
        static_cast<double>(product.quantizer.scale) * product.scales[product.scales.size() == 1 ? 0 : i];
    const double share = scale * product.quantizer.zero * static_cast<double>(sums[i]);
    product.bias[i] = static_cast<float>(product.bias[i] - share);
  }
  product.quantizer.zero = 0;
  return product;
}

std::optional<QuantizedProduct> match_quantized(const ir::Model& model, const ops::Inference& inference,
                                                std::span<const ir::NodeId> nodes, const ConstantOf& constant) {
  return nodes.empty() ? std::nullopt : Matcher(model, inference, nodes, constant).match();
}

}  // namespace assay::engine
