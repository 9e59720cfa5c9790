#pragma once

#include <optional>
#include <span>

#include "engine/layers/layer.h"

namespace assay::engine {

// Numbers that stand for the blocks of each column: a scale or a zero point.
struct BlockNumbers {
  ir::ValueId value;  // invalid: there are none
  int64_t block = 0;  // strides, in elements
  int64_t column = 0;
};

// A product with a constant matrix [depth, columns] of small integers: element (k, c) is
// (code - zero of its block) * scale of its block.
struct CompressedProduct {
  tensor::DType dtype = tensor::DType::float32;  // of data, scales and bias; float16 in MatMulNBits only
  ir::ValueId data;                              // the left operand, rows of `depth`
  ir::ValueId bias;                              // one number for each column; invalid: none
  ir::ValueId codes;
  int64_t depth = 0;
  int64_t columns = 0;
  int64_t block = 0;            // rows that share a scale
  int64_t row = 0, column = 0;  // strides of the codes, in elements
  int bits = 8;                 // 4 or 8
  bool is_signed = false;       // codes and zero points
  BlockNumbers scales, zeros;
  float zero = 0;                 // used if there are no zero points
  bool are_zeros_floats = false;  // otherwise of `bits`
};

// The product that nodes compute: DequantizeLinear, perhaps Transpose, and MatMul or Gemm; or MatMulNBits. Nullopt:
// something else, or of another form.
std::optional<CompressedProduct> match_compressed(const ir::Model& model, const ops::Inference& inference,
                                                  std::span<const ir::NodeId> nodes, const ConstantOf& constant);
// The most nodes at the start of a layer that such a product may be.
inline constexpr size_t kMostCompressedNodes = 3;

// A layer that begins with such a product, of so many nodes.
struct CompressedForm {
  CompressedProduct product;
  size_t done = 1;
};
std::optional<CompressedForm> find_compressed(const Layer& layer);

}  // namespace assay::engine
