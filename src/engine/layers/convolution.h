#pragma once

#include "engine/layers/conv_geometry.h"
#include "engine/layers/quantization.h"

namespace assay::engine {

// A convolution over pictures at the front of a layer: of floats with constant weights, of integers that come with what
// they stand for, or of integers alone.
struct ConvolutionForm {
  ConvGeometry geometry;
  int data = 0;  // input of the layer
  const tensor::Tensor* weights = nullptr;
  int bias = -1;                              // input of the layer, where it is one
  size_t done = 1;                            // nodes of the layer up to the convolution
  std::optional<QuantizedProduct> quantized;  // of integers
  bool is_sum = false;                        // of integers, perhaps as floats, without a scale
  int zero = -1;                              // of sums: an input with the zero point of the data
  std::vector<int32_t> weight_zeros;          // of integers, by result channel; empty: all are 0

  bool is_integer() const { return quantized || is_sum; }
  int32_t known_zero() const { return quantized ? quantized->quantizer.zero : 0; }  // of the data, without an input
};

// Null: the layer begins with another operator, or a convolution over three dims or with computed weights.
std::optional<ConvolutionForm> find_convolution(const Layer& layer);

}  // namespace assay::engine
