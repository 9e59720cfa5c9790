#pragma once

#include "engine/layers/product_geometry.h"
#include "engine/layers/quantization.h"

namespace assay::engine {

// A product of matrices at the front of a layer: of floats, of integers that come with what they stand for, or of
// integers alone.
struct ProductForm {
  ir::NodeId node;
  int left = 0;  // input of the layer
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

// Nullopt: the layer begins with another operator.
std::optional<ProductForm> find_product(const Layer& layer);

// A product whose matrices lie well.
struct LocatedProduct {
  const ProductForm& form;
  ProductGeometry geometry;
  const tensor::Tensor* weights = nullptr;  // of one item; null: computed, or read as if they were
};

// Nullopt: the product is empty, has other factors than 1, or its operands or result lie in another way.
std::optional<ProductGeometry> product_geometry(const Layer& layer, const ProductForm& form);

// Nullopt: as before, or a matrix has no dim of neighbours, or a Gemm adds a whole matrix.
std::optional<LocatedProduct> locate(const Layer& layer, const ProductForm& form);

}  // namespace assay::engine
