#pragma once

#include <cstdint>
#include <vector>

#include "convert/quantize/block_coding.h"
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
  WeightType type = WeightType::integer;
  bool clips = true;  // numbers may be cut off if that loses less in all
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
  float of_tensor = 1;               // factor of all scales
  WeightError error;
};

// The coding of one block. `of_tensor`: see scale_of_tensor(). `factors`: see best_coding().
BlockCoding block_coding(std::span<const float> numbers, const Blocks& wanted, float of_tensor,
                         const Factors& factors = {});
// The greatest magnitude of a float32 tensor.
float largest_number(const tensor::Tensor& floats);
// The loss between numbers and what their codes stand for.
WeightError weight_error(std::span<const float> numbers, std::span<const float> rounded);

// Scales are those of the least square error. Precondition: the tensor has this axis, and its numbers are finite.
// Symmetric codes are signed, others are not. `factors`: those of a matrix by the place in a sum, which is that along
// blocks or across channels.
BlockCodes block_codes(const tensor::Tensor& floats, const Blocks& blocks, const Factors& factors = {});

// The numbers that codes of block_codes() stand for, in the order of the tensor of this shape.
std::vector<float> decoded(const BlockCodes& codes, const tensor::Shape& shape, const Blocks& wanted);

// Codes as a tensor of int4, uint4, int8 or uint8, or of a small float type by its bits, packed as ONNX does.
tensor::Tensor pack_codes(std::span<const int16_t> codes, tensor::Shape shape, tensor::DType dtype);

}  // namespace assay::convert
