#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "engine/devices/cpu/integers/integer_kernels.h"

// One element of integer_kernels.h at a time.
namespace assay::engine::cpu {

constexpr bool is_unary(ElementOp op) {
  return op == ElementOp::negate || op == ElementOp::abs || op == ElementOp::sign || op == ElementOp::bits_not;
}
constexpr bool gives_truth(ElementOp op) { return op >= ElementOp::less && op <= ElementOp::equal; }

template <typename T>
constexpr T wrapped(uint64_t x) {
  return static_cast<T>(x);
}

template <typename T>
constexpr T quotient(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return wrapped<T>(-static_cast<uint64_t>(a));
  }
  return static_cast<T>(a / b);
}

// Exact where both fit into 32 bits with a sign: a quotient that is not whole is further from one than it is rounded.
template <typename T>
constexpr T short_quotient(T a, T b) {
  const double divided = static_cast<double>(a) / static_cast<double>(b == 0 ? T{1} : b);
  const bool wraps = divided == 0x1p31;
  const auto whole = static_cast<int32_t>(wraps ? -0x1p31 : divided);
  return b == 0 ? T{0} : static_cast<T>(whole);
}

template <typename T>
constexpr T best_quotient(T a, T b) {
  if constexpr (sizeof(T) < 4 || std::is_same_v<T, int32_t>) return short_quotient(a, b);
  return quotient(a, b);
}

template <typename T>
constexpr T rest_of(T a, T b) {
  const T whole = best_quotient(a, b);
  const T rest = wrapped<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(whole) * static_cast<uint64_t>(b));
  return b == 0 ? T{0} : rest;
}

template <typename T>
constexpr T floored_rest(T a, T b) {
  const T rest = rest_of(a, b);
  if constexpr (std::is_signed_v<T>) {
    const bool turns = rest != 0 && (rest < 0) != (b < 0);
    return turns ? static_cast<T>(rest + b) : rest;
  }
  return rest;
}

template <typename T>
constexpr T shifted_left(T x, T amount) {
  constexpr uint64_t kBits = sizeof(T) * 8;
  const auto by = static_cast<uint64_t>(amount);  // NOLINT(bugprone-signed-char-misuse): with its sign
  return by >= kBits ? T{0} : wrapped<T>(static_cast<uint64_t>(x) << (by % kBits));
}

template <typename T>
constexpr T shifted_right(T x, T amount) {
  constexpr uint64_t kBits = sizeof(T) * 8;
  const auto by = static_cast<uint64_t>(amount);  // NOLINT(bugprone-signed-char-misuse): with its sign
  const T rest = static_cast<T>(x >> (by % kBits));
  return by < kBits ? rest : static_cast<T>(x < 0 ? -1 : 0);
}

template <ElementOp kOp, typename T>
constexpr T computed(T x) {
  if constexpr (kOp == ElementOp::bits_not) return static_cast<T>(~x);
  if constexpr (kOp == ElementOp::negate) return wrapped<T>(-static_cast<uint64_t>(x));
  if constexpr (kOp == ElementOp::abs) return x < 0 ? wrapped<T>(-static_cast<uint64_t>(x)) : x;
  return static_cast<T>((x > 0) - (x < 0));  // sign
}

template <ElementOp kOp, typename T>
constexpr auto computed(T x, T y) {
  const auto a = static_cast<uint64_t>(x);  // NOLINT(bugprone-signed-char-misuse): with its sign
  const auto b = static_cast<uint64_t>(y);  // NOLINT(bugprone-signed-char-misuse): with its sign
  if constexpr (kOp == ElementOp::add) return wrapped<T>(a + b);
  if constexpr (kOp == ElementOp::subtract) return wrapped<T>(a - b);
  if constexpr (kOp == ElementOp::multiply) return wrapped<T>(a * b);
  if constexpr (kOp == ElementOp::divide) return best_quotient(x, y);
  if constexpr (kOp == ElementOp::remainder) return rest_of(x, y);
  if constexpr (kOp == ElementOp::modulo) return floored_rest(x, y);
  if constexpr (kOp == ElementOp::maximum) return y > x ? y : x;
  if constexpr (kOp == ElementOp::minimum) return y < x ? y : x;
  if constexpr (kOp == ElementOp::bits_and) return static_cast<T>(x & y);
  if constexpr (kOp == ElementOp::bits_or) return static_cast<T>(x | y);
  if constexpr (kOp == ElementOp::bits_xor) return static_cast<T>(x ^ y);
  if constexpr (kOp == ElementOp::shift_left) return shifted_left(x, y);
  if constexpr (kOp == ElementOp::shift_right) return shifted_right(x, y);
  if constexpr (kOp == ElementOp::less) return x < y;
  if constexpr (kOp == ElementOp::greater) return x > y;
  if constexpr (kOp == ElementOp::less_or_equal) return x <= y;
  if constexpr (kOp == ElementOp::greater_or_equal) return x >= y;
  if constexpr (kOp == ElementOp::equal) return x == y;
}

// A float that is truncated to W, the least number where it does not fit.
template <typename W, typename F>
constexpr W truncated(F x) {
  constexpr F kLeast = static_cast<F>(std::numeric_limits<W>::min());
  const bool fits = x >= kLeast && x < -kLeast;
  return static_cast<W>(fits ? x : kLeast);
}

// Without a sign, what is beyond the signed numbers is truncated as its distance from them.
template <typename W, typename F>
constexpr std::make_unsigned_t<W> truncated_unsigned(F x) {
  using U = std::make_unsigned_t<W>;
  constexpr F kHalf = -static_cast<F>(std::numeric_limits<W>::min());
  const bool is_high = x >= kHalf;
  const auto low = static_cast<U>(truncated<W>(is_high ? x - kHalf : x));
  return is_high ? low + (U{1} << (sizeof(U) * 8 - 1)) : low;
}

template <typename To, typename From>
constexpr To cast_to(From x) {
  if constexpr (std::is_same_v<To, bool> || !std::is_floating_point_v<From> || std::is_floating_point_v<To>)
    return static_cast<To>(x);
  else if constexpr (std::is_same_v<To, uint64_t>)
    return truncated_unsigned<int64_t>(x);
  else if constexpr (std::is_same_v<To, uint32_t>)
    return truncated_unsigned<int32_t>(x);
  else if constexpr (std::is_same_v<To, int64_t>)
    return truncated<int64_t>(x);
  else
    return static_cast<To>(truncated<int32_t>(x));
}

}  // namespace assay::engine::cpu
