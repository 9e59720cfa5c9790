#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/layers/layer.h"
#include "ops/inference.h"
#include "tensor/dtype.h"

namespace assay::engine {

// One scale and one zero point, and the numbers that they make of integers: (code - zero) * scale.
struct Quantizer {
  tensor::DType codes = tensor::DType::undefined;  // int8 or uint8; of a product also float8e4m3fn
  float scale = 1;
  int32_t zero = 0;
  bool operator==(const Quantizer&) const = default;
};

// True if anything in the model makes integers of floats.
bool has_quantizers(const ir::Model& model);

// True if a layer is a DynamicQuantizeLinear of elements without gaps, all of whose results are wanted.
bool quantizes_by_range(const Layer& layer);

// True if a node is a QuantizeLinear or DequantizeLinear between float32 and int8 or uint8 with one scale.
bool is_quantizer(const ir::Model& model, const ops::Inference& inference, ir::NodeId node);
// The quantizer of a node; nullopt: scale or zero point are computed.
std::optional<Quantizer> find_quantizer(const ir::Model& model, const ops::Inference& inference, ir::NodeId node,
                                        const ConstantOf& constant);

// A Conv, MatMul or Gemm of integers, or a MatMul or Gemm of float8, that is written as one of what DequantizeLinear
// makes of them: constant weights with one scale for all or for each result channel or column.
struct QuantizedProduct {
  ir::NodeId product;
  ir::ValueId data;  // codes
  Quantizer quantizer;
  const tensor::Tensor* weights = nullptr;  // int8 or float8
  std::vector<float> scales;                // of the weights
  std::vector<int32_t> zeros;               // of the weights, by result channel or column; empty: all are 0
  std::vector<float> bias;                  // by result channel or column; empty: none

  bool is_of_float8() const { return quantizer.codes == tensor::DType::float8e4m3fn; }
};

// A MatMulInteger or ConvInteger with constant weights.
struct IntegerSums {
  ir::ValueId data;
  ir::ValueId zero;                         // of the data; invalid: none
  const tensor::Tensor* weights = nullptr;  // int8
  std::vector<int32_t> zeros;               // likewise
  bool become_floats = false;               // by the Cast behind it
};

// The sums with which these nodes begin: MatMulInteger or ConvInteger, alone or with a Cast to float32; nullopt:
// something else.
std::optional<IntegerSums> match_sums(const ir::Model& model, const ops::Inference& inference,
                                      std::span<const ir::NodeId> nodes, const ConstantOf& constant);

// The sums of int8 weights, by result channel or column.
std::vector<int64_t> sums_of_channels(const tensor::Tensor& weights, size_t axis);

// The product without a zero point of the data: the bias takes over its share of the sums. For products without
// padding; `axis` is that of the result channels or columns in the weights.
QuantizedProduct without_zero_point(QuantizedProduct product, size_t axis);

// The product that these nodes compute, of which the last is the product and the others give its operands; nullopt:
// something else.
std::optional<QuantizedProduct> match_quantized(const ir::Model& model, const ops::Inference& inference,
                                                std::span<const ir::NodeId> nodes, const ConstantOf& constant);

}  // namespace assay::engine
