#pragma once

#include <optional>
#include <vector>

#include "engine/layers/layer.h"
#include "engine/layers/quantization.h"

namespace assay::engine {

// A product of matrices, or many of them: items of [rows, depth] by [depth, columns], with results in plain order.
struct ProductGeometry {
  int left = 0;                                  // inputs of the layer
  int right = 1;                                 // -1: computed inside, or integers that come with the layer
  int bias = -1;                                 // of a Gemm; -1: none
  std::vector<int64_t> items;                    // dims before the matrices
  std::vector<int64_t> left_items, right_items;  // strides by dim of `items`
  int64_t rows = 1, depth = 1, columns = 1;
  int64_t left_row = 0, left_column = 0;  // strides
  int64_t right_row = 0, right_column = 0;

  int64_t item_count() const;
  int64_t offset(int64_t item, std::span<const int64_t> strides) const;
};

// The geometry of a MatMul or Gemm in a layer whose result has the dims of the product; nullopt: of another form,
// empty, or not of one type of floats.
std::optional<ProductGeometry> product_geometry(const Layer& layer, ir::NodeId node);

// Geometry of a product of the input `left` by constant integers.
std::optional<ProductGeometry> codes_geometry(const Layer& layer, ir::NodeId node, int left,
                                              const tensor::Tensor& weights);

// True if the bias is one number for each column.
bool has_bias_row(const Layer& layer, const ProductGeometry& geometry);

}  // namespace assay::engine
