#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/float_format.h"

// For casts.cpp only.
namespace assay::tensor {

// A codec says how one element is stored: Code is what is read from memory, of which kBits count; decode<C> gives the
// carrier C, encode takes one.

inline constexpr double kTwo63 = 0x1p63;

// Truncated; NaN and what lies beyond 64 bits becomes the smallest, as x86 does it.
inline int64_t to_int64(double value) {
  const bool fits = value >= -kTwo63 && value < kTwo63;
  return fits ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min();
}

template <typename T>
struct Number {
  using Code = T;
  static constexpr uint32_t kBits = 8 * sizeof(T);
  static constexpr bool kIsFloating = std::is_floating_point_v<T>;

  template <typename C>
  static C decode(T code) {
    return static_cast<C>(code);
  }
  static T encode(double value) {
    if constexpr (kIsFloating) return static_cast<T>(value);
    const bool high = std::is_same_v<T, uint64_t> && value >= kTwo63 && value < 2 * kTwo63;
    return static_cast<T>(high ? static_cast<uint64_t>(value) : static_cast<uint64_t>(to_int64(value)));
  }
  static T encode(int64_t value) { return static_cast<T>(value); }
  static T encode(uint64_t value) { return static_cast<T>(value); }
};

struct Boolean {
  using Code = uint8_t;
  static constexpr uint32_t kBits = 8;
  static constexpr bool kIsFloating = false;

  template <typename C>
  static C decode(uint8_t code) {
    return static_cast<C>(code != 0);
  }
  template <typename C>
  static uint8_t encode(C value) {
    return value != C{0};
  }
};

template <uint32_t Bits, bool Signed>
struct NarrowInteger {
  using Code = uint8_t;
  static constexpr uint32_t kBits = Bits;
  static constexpr bool kIsFloating = false;

  template <typename C>
  static C decode(uint8_t code) {
    const auto top = static_cast<int8_t>(code << (8 - Bits));
    return Signed ? static_cast<C>(top >> (8 - Bits)) : static_cast<C>(code);
  }
  static uint8_t encode(double value) { return static_cast<uint8_t>(to_int64(value)); }
  static uint8_t encode(int64_t value) { return static_cast<uint8_t>(value); }
  static uint8_t encode(uint64_t value) { return static_cast<uint8_t>(value); }
};

// An integer as a double that every narrow float rounds in the same way: bits that a double has no room for are joined
// into one sticky bit.
inline double to_sticky_double(uint64_t magnitude) {
  constexpr uint64_t kLow = 0xFFF;
  const bool exact = magnitude < uint64_t{1} << 53;
  const uint64_t sticky = (magnitude & kLow) != 0 ? 0x800 : 0;
  return static_cast<double>(exact ? magnitude : (magnitude & ~kLow) | sticky);
}

inline double to_sticky_double(int64_t value) {
  const uint64_t magnitude = value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return value < 0 ? -to_sticky_double(magnitude) : to_sticky_double(magnitude);
}

template <FloatFormat F>
constexpr auto make_table() {
  std::array<double, size_t{1} << F.bits()> table = {};
  for (size_t code = 0; code < table.size(); ++code) table[code] = decode<F>(code);
  return table;
}

template <FloatFormat F>
struct SmallFloat {
  using Code = std::conditional_t<(F.bits() > 8), uint16_t, uint8_t>;
  static constexpr uint32_t kBits = F.bits();
  static constexpr bool kIsFloating = true;

  template <typename C>
  static C decode(Code code) {
    if constexpr (kBits > 8)
      return tensor::decode<F>(code);
    else
      return kTable[code];
  }
  static Code encode(double value) { return static_cast<Code>(tensor::encode<F>(value)); }
  static Code encode(int64_t value) { return encode(to_sticky_double(value)); }
  static Code encode(uint64_t value) { return encode(to_sticky_double(value)); }

 private:
  static constexpr std::array<double, (kBits > 8 ? 1 : size_t{1} << kBits)> kTable = [] {
    if constexpr (kBits > 8)
      return std::array<double, 1>{};
    else
      return make_table<F>();
  }();
};

// Through float32, which vectorises better than double, and without numbers that are subnormal there, which a thread
// may flush.
struct Float16 : SmallFloat<kFloat16> {
  template <typename C>
  static C decode(uint16_t code) {
    const uint32_t magnitude = code & 0x7FFFU;
    const uint32_t special = magnitude >= kFloat16.infinity() ? 0x7F800000U : 0;
    const float small = std::bit_cast<float>(0x38800000U | magnitude << 13) - 0x1p-14F;
    const uint32_t bits = magnitude < 0x400U ? std::bit_cast<uint32_t>(small) : (magnitude << 13) + 0x38000000U;
    return std::bit_cast<float>(bits | special | (code & 0x8000U) << 16);
  }
};

// The upper half of a float32.
struct Bfloat16 : SmallFloat<kBfloat16> {
  template <typename C>
  static C decode(uint16_t code) {
    return std::bit_cast<float>(uint32_t{code} << 16);
  }
};

struct Float8e8m0 {
  using Code = uint8_t;
  static constexpr uint32_t kBits = 8;
  static constexpr bool kIsFloating = true;

  template <typename C>
  static C decode(uint8_t code) {
    return decode_e8m0(code);
  }
  static uint8_t encode(double value) { return static_cast<uint8_t>(encode_e8m0(value)); }
  static uint8_t encode(int64_t value) { return encode(to_sticky_double(value)); }
  static uint8_t encode(uint64_t value) { return encode(to_sticky_double(value)); }
};

template <typename Fn>
void with_codec(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::float32:
      return fn(Number<float>{});
    case DType::uint8:
      return fn(Number<uint8_t>{});
    case DType::int8:
      return fn(Number<int8_t>{});
    case DType::uint16:
      return fn(Number<uint16_t>{});
    case DType::int16:
      return fn(Number<int16_t>{});
    case DType::int32:
      return fn(Number<int32_t>{});
    case DType::int64:
      return fn(Number<int64_t>{});
    case DType::boolean:
      return fn(Boolean{});
    case DType::float16:
      return fn(Float16{});
    case DType::float64:
      return fn(Number<double>{});
    case DType::uint32:
      return fn(Number<uint32_t>{});
    case DType::uint64:
      return fn(Number<uint64_t>{});
    case DType::bfloat16:
      return fn(Bfloat16{});
    case DType::float8e4m3fn:
      return fn(SmallFloat<kFloat8e4m3fn>{});
    case DType::float8e4m3fnuz:
      return fn(SmallFloat<kFloat8e4m3fnuz>{});
    case DType::float8e5m2:
      return fn(SmallFloat<kFloat8e5m2>{});
    case DType::float8e5m2fnuz:
      return fn(SmallFloat<kFloat8e5m2fnuz>{});
    case DType::uint4:
      return fn(NarrowInteger<4, false>{});
    case DType::int4:
      return fn(NarrowInteger<4, true>{});
    case DType::float4e2m1:
      return fn(SmallFloat<kFloat4e2m1>{});
    case DType::float8e8m0:
      return fn(Float8e8m0{});
    case DType::uint2:
      return fn(NarrowInteger<2, false>{});
    case DType::int2:
      return fn(NarrowInteger<2, true>{});
    case DType::float6e2m3:
      return fn(SmallFloat<kFloat6e2m3>{});
    case DType::float6e3m2:
      return fn(SmallFloat<kFloat6e3m2>{});
    default:
      fail(ErrorCode::unsupported, "elements of `{}` are not real numbers", name(dtype));
  }
}

}  // namespace assay::tensor
