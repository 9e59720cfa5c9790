#include "ops/kernels/quantization/cast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "ops/kernels/quantization/cast_text.h"
#include "ops/kernels/quantization/numeric_limits.h"

namespace assay::ops {
namespace {

constexpr uint64_t kTile = 1024;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool is_float8(DType dtype) {
  return dtype == DType::float8e4m3fn || dtype == DType::float8e4m3fnuz || dtype == DType::float8e5m2 ||
         dtype == DType::float8e5m2fnuz;
}

// Half a step above the largest number; that itself rounds up to the next power of two in the types where the largest
// number is odd.
bool rounds_beyond(DType to, double magnitude) {
  switch (to) {
    case DType::float8e4m3fn:
      return magnitude > 464;
    case DType::float8e4m3fnuz:
      return magnitude >= 248;
    case DType::float8e5m2:
    case DType::float8e5m2fnuz:
      return magnitude >= 61440;
    default:
      return false;
  }
}

double ready_for_float8(DType to, double value, bool saturate) {
  const double largest = highest_of<double>(to);
  if (saturate) return std::isnan(value) ? value : std::clamp(value, -largest, largest);
  if (to == DType::float8e5m2 || !rounds_beyond(to, std::abs(value))) return value;
  return std::copysign(kNan, value);
}

double ready_for_e8m0(double value, const CastRules& rules) {
  const double least = lowest_of<double>(DType::float8e8m0);
  const double largest = highest_of<double>(DType::float8e8m0);
  if (std::isnan(value) || value < 0) return kNan;
  if (value < least) return rules.saturate ? least : kNan;
  if (value > largest) return rules.saturate ? largest : kNan;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // in [0.5, 1)
  const bool rises = rules.round_mode == "up" ? fraction > 0.5 : rules.round_mode == "nearest" && fraction >= 0.75;
  return std::min(std::ldexp(rises ? 1.0 : 0.5, exponent), largest);
}

uint64_t truncated_to_int32(double value) {
  const bool fits = value > -0x1p31 - 1 && value < 0x1p31;
  return static_cast<uint64_t>(fits ? static_cast<int64_t>(value) : std::numeric_limits<int32_t>::min());
}

uint64_t truncated_to_int64(double value) {
  const bool fits = value >= -0x1p63 && value < 0x1p63;
  return static_cast<uint64_t>(fits ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min());
}

// fn: from a span of C to one of R. Pieces begin at multiples of 8, so that none share a byte.
template <typename C, typename R, typename Fn>
Tensor convert(const Tensor& from, DType to, Fn fn) {
  const tensor::Bytes bytes = from.bytes();
  std::vector<std::byte> result(tensor::packed_bytes(to, from.count()).value());
  parallel_for(from.count(), 64 * kTile, [&](uint64_t begin, uint64_t end) {
    std::array<C, kTile> in;
    std::array<R, kTile> out;
    for (uint64_t at = begin; at < end; at += kTile) {
      const uint64_t count = std::min(kTile, end - at);
      tensor::load(from.dtype(), bytes, at, std::span(in).first(count));
      for (uint64_t i = 0; i < count; ++i) out[i] = fn(in[i]);
      tensor::store(to, std::span<const R>(out).first(count), at, result);
    }
  });
  return {to, from.shape(), tensor::make_owned(std::move(result))};
}

Tensor cast_to_text(const Tensor& from, DType declared) {
  std::vector<std::string> texts;
  texts.reserve(from.count());
  with_carrier(declared, [&](auto zero) {
    using C = decltype(zero);
    for (const C value : load_elements<C>(from)) {
      const bool is_number = std::is_floating_point_v<C> || declared == DType::boolean;
      texts.push_back(is_number ? number_text(declared, static_cast<double>(value)) : fmt::format("{}", value));
    }
  });
  return make_rounded(DType::string, from.shape(), std::move(texts));
}

Tensor cast_from_text(const Tensor& from, DType to, DType stored, const CastRules& rules) {
  const std::span<const std::string> texts = from.strings();
  if (tensor::is_integer(to)) {
    std::vector<uint64_t> values;
    for (const std::string& text : texts) values.push_back(integer_of_text(to, text));
    return make_rounded(stored, from.shape(), std::move(values));
  }
  std::vector<double> values;
  for (const std::string& text : texts) {
    const double value = number_of_text(text, stored == DType::float32);
    values.push_back(stored == to ? ready_to_round(to, value, rules) : value);
  }
  return make_rounded(stored, from.shape(), std::move(values));
}

}  // namespace

void check_cast_rules(const CastRules& rules) {
  const std::string_view mode = rules.round_mode;
  if (mode != "up" && mode != "down" && mode != "nearest") {
    fail(ErrorCode::shape, "attribute `round_mode` must be up, down or nearest, it is `{}`", mode);
  }
}

double ready_to_round(DType to, double value, const CastRules& rules) {
  if (to == DType::float8e8m0) return ready_for_e8m0(value, rules);
  if (is_float8(to)) return ready_for_float8(to, value, rules.saturate);
  const bool has_nan = tensor::bit_width(to) >= 8;
  return std::isnan(value) && !has_nan ? -0.0 : value;
}

uint64_t truncated_to(DType to, double value) {
  const uint32_t bits = tensor::bit_width(to);
  const bool is_signed = tensor::kind(to) == tensor::DTypeKind::signed_integer;
  if (bits < 32 || (is_signed && bits == 32)) return truncated_to_int32(value);
  if (is_signed) return truncated_to_int64(value);
  if (bits == 32)
    return value >= 0x1p31 ? truncated_to_int32(value - 0x1p31) + (uint64_t{1} << 31) : truncated_to_int32(value);
  return value >= 0x1p63 ? truncated_to_int64(value - 0x1p63) + (uint64_t{1} << 63) : truncated_to_int64(value);
}

Tensor cast(const Tensor& from, DType declared, DType to, DType stored, const CastRules& rules) {
  if (declared == DType::string) {
    return to == DType::string ? from : cast_from_text(from, to, stored, rules);
  }
  if (to == DType::string) return cast_to_text(from, declared);
  const bool is_widened = stored != to;
  if (is_widened && from.dtype() == stored) return from;
  if (!is_widened && tensor::is_floating(to) && tensor::bit_width(to) <= 8) {
    return convert<double, double>(from, stored, [&](double x) { return ready_to_round(to, x, rules); });
  }
  if (tensor::is_floating(declared) && tensor::is_integer(to)) {
    return convert<double, uint64_t>(from, stored, [=](double x) { return truncated_to(to, x); });
  }
  return with_carrier(declared, [&](auto zero) {
    using C = decltype(zero);
    return convert<C, C>(from, stored, [](C x) { return x; });
  });
}

}  // namespace assay::ops
