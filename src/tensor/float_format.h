#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace assay::tensor {

// The meaning of the codes beyond the finite numbers.
enum class Specials {
  ieee,  // the top exponent holds infinity and NaN
  fn,    // the top code of either sign is NaN, no infinity
  fnuz,  // minus zero's code is the only NaN, no infinity
  none,  // every code is a finite number
};

// A binary floating-point format with a sign bit and at most 16 bits.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;

  constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr uint64_t sign() const { return uint64_t{1} << (bits() - 1); }
  constexpr uint64_t infinity() const { return sign() - (uint64_t{1} << mantissa_bits); }  // of ieee only
  constexpr uint64_t largest() const {
    if (specials == Specials::ieee) return infinity() - 1;
    return specials == Specials::fn ? sign() - 2 : sign() - 1;
  }
};

inline constexpr FloatFormat kFloat16{5, 10, 15, Specials::ieee};
inline constexpr FloatFormat kBfloat16{8, 7, 127, Specials::ieee};
inline constexpr FloatFormat kFloat8e4m3fn{4, 3, 7, Specials::fn};
inline constexpr FloatFormat kFloat8e4m3fnuz{4, 3, 8, Specials::fnuz};
inline constexpr FloatFormat kFloat8e5m2{5, 2, 15, Specials::ieee};
inline constexpr FloatFormat kFloat8e5m2fnuz{5, 2, 16, Specials::fnuz};
inline constexpr FloatFormat kFloat6e2m3{2, 3, 1, Specials::none};
inline constexpr FloatFormat kFloat6e3m2{3, 2, 3, Specials::none};
inline constexpr FloatFormat kFloat4e2m1{2, 1, 1, Specials::none};

inline constexpr int kDoubleBias = 1023;
inline constexpr int kDoubleMantissaBits = 52;
inline constexpr uint64_t kDoubleSign = uint64_t{1} << 63;
inline constexpr uint64_t kDoubleInfinity = uint64_t{0x7FF} << kDoubleMantissaBits;

// 2^exponent, for exponents of normal doubles.
constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + kDoubleBias) << kDoubleMantissaBits);
}

// The number that `code` stands for; exact. Without branches, so that loops over it vectorise.
template <FloatFormat F>
constexpr double decode(uint64_t code) {
  constexpr int kShift = kDoubleMantissaBits - F.mantissa_bits;
  const uint64_t magnitude = code & (F.sign() - 1);
  const uint64_t sign = (code & F.sign()) << (64 - F.bits());
  // The exponent is moved to double's bias by a product, which also normalises what is subnormal in F.
  const double scaled = std::bit_cast<double>(magnitude << kShift) * power_of_two(kDoubleBias - F.bias);
  uint64_t bits = std::bit_cast<uint64_t>(scaled);
  if (F.specials == Specials::ieee && magnitude >= F.infinity()) bits = kDoubleInfinity | magnitude << kShift;
  if (F.specials == Specials::fn && magnitude > F.largest()) bits = kDoubleInfinity | uint64_t{1} << 51;
  if (F.specials == Specials::fnuz && code == F.sign()) return std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<double>(bits | sign);
}

// The code of NaN with double's bits `bits`: payload and sign kept as far as they fit; the largest number where F has
// no NaN.
template <FloatFormat F>
constexpr uint64_t encode_nan(uint64_t bits) {
  const uint64_t sign = bits >> (64 - F.bits()) & F.sign();
  const uint64_t payload = bits >> (kDoubleMantissaBits - F.mantissa_bits) & ((uint64_t{1} << F.mantissa_bits) - 1);
  switch (F.specials) {
    case Specials::ieee:
      return sign | F.infinity() | payload | uint64_t{1} << (F.mantissa_bits - 1);
    case Specials::fn:
      return sign | (F.sign() - 1);
    case Specials::fnuz:
      return F.sign();
    case Specials::none:
      break;
  }
  return F.largest();
}

// The code nearest to `value`, ties to even, rounded once. Beyond the range: infinity, else the largest number.
template <FloatFormat F>
constexpr uint64_t encode(double value) {
  constexpr int kShift = kDoubleMantissaBits - F.mantissa_bits;
  constexpr int kSmallestExponent = 1 - F.bias;
  // A double of this size has its last bit where the last bit of F's subnormals is, so that adding it rounds there.
  constexpr double kRounder = power_of_two(kSmallestExponent - F.mantissa_bits + kDoubleMantissaBits);
  constexpr uint64_t kOverflow = F.specials == Specials::ieee ? F.infinity() : F.largest();

  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint64_t magnitude = bits & ~kDoubleSign;
  const uint64_t subnormal =
      std::bit_cast<uint64_t>(std::bit_cast<double>(magnitude) + kRounder) - std::bit_cast<uint64_t>(kRounder);
  const uint64_t half_minus_one = (uint64_t{1} << (kShift - 1)) - 1;
  const uint64_t rounded = (magnitude + half_minus_one + (magnitude >> kShift & 1)) >> kShift;
  const uint64_t normal = rounded - (static_cast<uint64_t>(kDoubleBias - F.bias) << F.mantissa_bits);
  const bool is_subnormal = magnitude < std::bit_cast<uint64_t>(power_of_two(kSmallestExponent));
  uint64_t code = is_subnormal ? subnormal : normal;
  code = code > F.largest() ? kOverflow : code;
  const bool has_sign = F.specials != Specials::fnuz || code != 0;
  code |= has_sign ? bits >> (64 - F.bits()) & F.sign() : 0;
  return magnitude > kDoubleInfinity ? encode_nan<F>(bits) : code;
}

// float8e8m0: powers of two from 2^-127 (code 0) to 2^127 (code 254), and NaN (255); neither zero nor sign.
double decode_e8m0(uint64_t code);
// The nearest power of two, the upper one of two that are equally near. Zero and what is smaller than the smallest
// becomes the smallest, what is beyond the largest the largest; infinity and negative numbers become NaN.
uint64_t encode_e8m0(double value);

}  // namespace assay::tensor
