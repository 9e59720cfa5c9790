#pragma once

#include "engine/devices/cpu/product_geometry.h"
#include "engine/layers/quantization.h"

namespace assay::engine::cpu {

// A product of matrices of floats, of integers that come with what they stand for, or of integers alone.
struct ProductSource {
  ProductGeometry geometry;
  tensor::DType left_type = tensor::DType::undefined;
  const tensor::Tensor* weights = nullptr;    // null: computed
  size_t column_axis = 1;                     // of the weights
  size_t done = 1;                            // nodes of the layer up to the product and its bias
  std::optional<QuantizedProduct> quantized;  // of integers
  bool is_sum = false;                        // of integers, perhaps as floats, without a scale
  int zero = -1;                              // of sums: an input with the zero point of the data
  std::vector<int32_t> weight_zeros;          // of integers, by column; empty: all are 0
  std::vector<float> column_sums;             // of the weights, where there is one

  bool is_integer() const { return quantized || is_sum; }
};

// The product at the front of a layer; nullopt: there is none of matrices that lie well.
std::optional<ProductSource> find_product_source(const Layer& layer);

}  // namespace assay::engine::cpu
