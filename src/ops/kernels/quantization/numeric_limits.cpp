#include "ops/kernels/quantization/numeric_limits.h"

#include <array>
#include <limits>

namespace assay::ops {
namespace {

double largest_float(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return 65504;
    case DType::bfloat16:
      return 0x1.FEp127;
    case DType::float32:
      return std::numeric_limits<float>::max();
    case DType::float8e4m3fn:
      return 448;
    case DType::float8e4m3fnuz:
      return 240;
    case DType::float8e5m2:
    case DType::float8e5m2fnuz:
      return 57344;
    case DType::float8e8m0:
      return 0x1p127;
    case DType::float6e2m3:
      return 7.5;
    case DType::float6e3m2:
      return 28;
    case DType::float4e2m1:
      return 6;
    default:
      return std::numeric_limits<double>::max();
  }
}

template <typename C>
C integer_limit(DType dtype, bool is_highest) {
  const uint32_t bits = dtype == DType::boolean ? 1 : tensor::bit_width(dtype);
  const uint64_t all = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const bool is_signed = tensor::kind(dtype) == tensor::DTypeKind::signed_integer;
  if (!is_signed) return static_cast<C>(is_highest ? all : 0);
  const auto highest = static_cast<int64_t>(all >> 1);
  return static_cast<C>(is_highest ? highest : -highest - 1);
}

}  // namespace

template <typename C>
C lowest_of(DType dtype) {
  if constexpr (std::is_floating_point_v<C>) {
    if (dtype == DType::float8e8m0) return 0x1p-127;
    if (tensor::is_floating(dtype)) return -largest_float(dtype);
  }
  return integer_limit<C>(dtype, false);
}

template <typename C>
C highest_of(DType dtype) {
  if constexpr (std::is_floating_point_v<C>) {
    if (tensor::is_floating(dtype)) return largest_float(dtype);
  }
  return integer_limit<C>(dtype, true);
}

double rounded_to(DType dtype, double value) {
  if (!tensor::is_floating(dtype) || dtype == DType::float64) return value;
  std::array<std::byte, 8> bytes = {};
  tensor::store(dtype, std::span<const double>(&value, 1), 0, bytes);
  tensor::load(dtype, bytes, 0, std::span<double>(&value, 1));
  return value;
}

template double lowest_of(DType);
template int64_t lowest_of(DType);
template uint64_t lowest_of(DType);
template double highest_of(DType);
template int64_t highest_of(DType);
template uint64_t highest_of(DType);

}  // namespace assay::ops
