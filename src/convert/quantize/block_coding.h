#pragma once

#include <cstdint>
#include <span>

#include "convert/quantize/scale_search.h"
#include "convert/quantize/weight_options.h"

namespace assay::convert {

// The rule by which the numbers of one block become codes, of integers or of a small type.
struct BlockCoding {
  WeightType type = WeightType::integer;
  Coding integers;      // of integers
  float scale = 1;      // of small types, as it is stored
  float of_tensor = 1;  // factor of all scales of the tensor

  int16_t code(float number) const;
  float value(int16_t code) const;
};

// The coding of a small type with the least square error that the search found. `of_tensor`: see scale_of_tensor().
// `factors`: see best_coding().
BlockCoding best_small_coding(std::span<const float> numbers, WeightType type, float of_tensor,
                              const Factors& factors = {});

// Factor with which the scales of nvfp4 are numbers of float8; 1 of others. `largest`: magnitude in the tensor.
float scale_of_tensor(WeightType type, float largest);

// The 16 numbers of nf4 or of float4e2m1, by code.
std::span<const float> small_table(WeightType type);

}  // namespace assay::convert
