#pragma once

#include <string>

#include "engine/layers/compressed_product.h"

namespace assay::engine {

// The constant matrix of a compressed product.
class CompressedWeights {
 public:
  CompressedWeights(const Layer& layer, const CompressedProduct& product);

  int64_t blocks() const { return (product_.depth + product_.block - 1) / product_.block; }
  int code(int64_t row, int64_t column) const {
    return integer_at(codes_, row * product_.row + column * product_.column);
  }
  float scale(int64_t block, int64_t column) const { return float_at(scales_, index(product_.scales, block, column)); }
  float zero(int64_t block, int64_t column) const;
  // True if all blocks have the same zero point.
  bool has_one_zero() const;
  // True if all scales are numbers that float16 holds exactly, but for its denormal ones.
  bool are_scales_halves() const;
  // A name of the numbers that stand for blocks.
  std::string fingerprint() const;

 private:
  static int64_t index(const BlockNumbers& numbers, int64_t block, int64_t column) {
    return block * numbers.block + column * numbers.column;
  }
  float float_at(tensor::Bytes bytes, int64_t index) const;
  int integer_at(tensor::Bytes bytes, int64_t index) const;

  const CompressedProduct& product_;
  tensor::Bytes codes_, scales_, zeros_;
};

}  // namespace assay::engine
