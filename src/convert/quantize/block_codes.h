#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace assay::convert {

// Elements of a tensor that share a scale: so many in a row along the axis (the last block may be shorter), or, with a
// length of 0, all that have the same place along it.
struct Blocks {
  uint32_t axis = 0;
  uint64_t length = 32;
  uint32_t bits = 4;  // or 8
  bool asymmetric = false;
  bool narrow = false;  // symmetric codes leave out the lowest one
  bool clips = true;    // numbers may be cut off if that loses less in all
};

// The cost of rounding a weight.
struct WeightError {
  double max_abs = 0;
  double cosine = 1;
  double snr_db = 0;
};

// A float32 tensor as small integers; a number is (code - zero_point) * scale.
struct BlockCodes {
  std::vector<int16_t> codes;        // one for each number, in its order
  std::vector<float> scales;         // in the order of `shape`; symmetric ones of 4 bits may be below 0
  std::vector<int16_t> zero_points;  // by block, too; 0 throughout if it is symmetric
  tensor::Shape shape;               // that of the tensor with blocks along the axis, or the axis alone
  WeightError error;
};

// Scales are those of the least square error. Precondition: the tensor has this axis, and its numbers are finite.
// Symmetric codes are signed, others are not.
BlockCodes block_codes(const tensor::Tensor& floats, const Blocks& blocks);

// Codes as a tensor of int4, uint4, int8 or uint8, packed as ONNX does.
tensor::Tensor pack_codes(std::span<const int16_t> codes, tensor::Shape shape, tensor::DType dtype);

}  // namespace assay::convert
