#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "calibrate/range.h"
#include "convert/quantize/qdq_options.h"
#include "tensor/tensor.h"

namespace assay::convert {

// The rule by which numbers become codes: round(x / scale) + zero_point, within the type.
struct Quantizer {
  tensor::DType dtype = tensor::DType::int8;
  float scale = 1;
  int32_t zero_point = 0;
};

// The nearest float that can be divided by without overflow.
float usable_scale(double scale);

inline float number_at(tensor::Bytes floats, uint64_t index) {
  float number = 0;
  std::memcpy(&number, floats.data() + index * sizeof(float), sizeof(float));
  return number;
}

// uint8 goes from the lowest number to the highest, with 0 among them; other codes lie around 0. The scale is above 0
// in any case.
Quantizer quantizer_of(const calibrate::Range& range, QdqCodes codes);

// True if all numbers of a float32 tensor are finite.
bool is_finite(const tensor::Tensor& floats);

// A bias as int32, to be added to products of integers; empty if a number does not fit.
std::optional<tensor::Tensor> quantize_bias(const tensor::Tensor& floats, const std::vector<float>& scales);

}  // namespace assay::convert
