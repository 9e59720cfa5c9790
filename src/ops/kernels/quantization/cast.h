#pragma once

#include <string_view>

#include "ops/eval.h"

namespace assay::ops {

// The rules of Cast's attributes for conversions to 8-bit floats.
struct CastRules {
  bool saturate = true;
  std::string_view round_mode = "up";  // of float8e8m0: up, down or nearest
};

// Error where `round_mode` is none of the words.
void check_cast_rules(const CastRules& rules);

// The number that a conversion to the floating type `to` rounds: beyond the range of 8 bits either its limit or what
// saturate=0 wants, a power of two for float8e8m0, and -0 for NaN where the type has none (as ONNX's tests have it).
double ready_to_round(DType to, double value, const CastRules& rules);

// Truncated, and what does not fit as x86 (and ONNX Runtime on it) does it: types of at most 32 bits signed or 16 bits
// unsigned go through int32, where NaN and all out of range is -2^31, and drop the upper bits; int64 has -2^63 for
// these. uint32 and uint64 take what lies beyond half of their range, h, as h + int(value - h), negative numbers as the
// signed type of their width, so that NaN and too low numbers become h and too high ones 0.
uint64_t truncated_to(DType to, double value);

// Elements converted to the type `to`, stored as `stored` (another one only in wide mode). `declared` is the type that
// the elements of `from` have in the model.
Tensor cast(const Tensor& from, DType declared, DType to, DType stored, const CastRules& rules);

}  // namespace assay::ops
