#include "passes/lossless.h"

#include <algorithm>
#include <array>

namespace assay::passes {
namespace {

using tensor::DType;

// The numbers of a type: integers of `bits` bits, or floats of `bits` significant bits whose last place is at least
// 2^lowest and which stay below 2^highest.
struct Range {
  DType dtype;
  bool is_float;
  bool is_signed;
  int bits;
  int lowest;
  int highest;
  bool has_infinity = false;
  bool has_nan = false;
};

constexpr std::array kRanges = {
    Range{DType::boolean, false, false, 1, 0, 1},
    Range{DType::uint2, false, false, 2, 0, 2},
    Range{DType::uint4, false, false, 4, 0, 4},
    Range{DType::uint8, false, false, 8, 0, 8},
    Range{DType::uint16, false, false, 16, 0, 16},
    Range{DType::uint32, false, false, 32, 0, 32},
    Range{DType::uint64, false, false, 64, 0, 64},
    Range{DType::int2, false, true, 1, 0, 1},
    Range{DType::int4, false, true, 3, 0, 3},
    Range{DType::int8, false, true, 7, 0, 7},
    Range{DType::int16, false, true, 15, 0, 15},
    Range{DType::int32, false, true, 31, 0, 31},
    Range{DType::int64, false, true, 63, 0, 63},
    Range{DType::float4e2m1, true, true, 2, -1, 3},
    Range{DType::float8e4m3fn, true, true, 4, -9, 9, false, true},
    Range{DType::float8e4m3fnuz, true, true, 4, -10, 8, false, true},
    Range{DType::float8e5m2, true, true, 3, -16, 16, true, true},
    Range{DType::float8e5m2fnuz, true, true, 3, -17, 16, false, true},
    Range{DType::bfloat16, true, true, 8, -133, 128, true, true},
    Range{DType::float16, true, true, 11, -24, 16, true, true},
    Range{DType::float32, true, true, 24, -149, 128, true, true},
    Range{DType::float64, true, true, 53, -1074, 1024, true, true},
};

const Range* find_range(DType dtype) {
  const auto found = std::ranges::find(kRanges, dtype, &Range::dtype);
  return found == kRanges.end() ? nullptr : &*found;
}

// The smallest integer of `bits` bits, -2^bits, is a power of two and needs one significant bit.
bool is_integer_in_float(const Range& from, const Range& to) {
  return from.bits <= to.bits && from.highest < to.highest && to.lowest <= 0;
}

bool holds(const Range& from, const Range& to) {
  if (from.is_float && !to.is_float) return false;
  if (!from.is_float && to.is_float) return is_integer_in_float(from, to);
  const bool specials = (!from.has_infinity || to.has_infinity) && (!from.has_nan || to.has_nan);
  return specials && from.bits <= to.bits && from.lowest >= to.lowest && from.highest <= to.highest &&
         (!from.is_signed || to.is_signed);
}

}  // namespace

bool is_lossless(DType from, DType to) {
  if (from == to) return true;
  const Range* source = find_range(from);
  const Range* target = find_range(to);
  return source && target && holds(*source, *target);
}

bool is_cast_chain_direct(DType from, DType through, DType to) {
  const Range* source = find_range(from);
  const Range* between = find_range(through);
  const Range* target = find_range(to);
  if (!source || !between || !target || !is_lossless(from, through)) return false;
  // Beyond its range an integer takes floats otherwise than integers.
  return source->is_float == between->is_float || target->is_float || is_lossless(from, to);
}

}  // namespace assay::passes
