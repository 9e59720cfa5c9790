#include "runners/value_compare.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "tensor/casts.h"
#include "tensor/index.h"

namespace assay::cases {
namespace {

using tensor::Datum;
using tensor::DType;
using tensor::DTypeKind;
using tensor::Tensor;

// Explicit bits behind the point, and the exponent of the smallest normal number.
struct Precision {
  DType dtype;
  int mantissa_bits;
  int least_exponent;
};

constexpr Precision kPrecisions[] = {
    {DType::float64, 52, -1022},     {DType::complex128, 52, -1022}, {DType::float32, 23, -126},
    {DType::complex64, 23, -126},    {DType::float16, 10, -14},      {DType::bfloat16, 7, -126},
    {DType::float8e4m3fn, 3, -6},    {DType::float8e4m3fnuz, 3, -7}, {DType::float8e5m2, 2, -14},
    {DType::float8e5m2fnuz, 2, -15}, {DType::float8e8m0, 0, -127},   {DType::float6e2m3, 3, 0},
    {DType::float6e3m2, 2, -2},      {DType::float4e2m1, 1, 0},
};

double ulp_of(DType dtype, double value) {
  for (const Precision& precision : kPrecisions) {
    if (precision.dtype != dtype) continue;
    const int exponent = value == 0 ? precision.least_exponent : std::max(std::ilogb(value), precision.least_exponent);
    return std::ldexp(1.0, exponent - precision.mantissa_bits);
  }
  return 0;
}

bool is_near(double seen, double expected, DType dtype, const Tolerance& tolerance) {
  if (std::isnan(seen) || std::isnan(expected)) return std::isnan(seen) && std::isnan(expected);
  if (seen == expected) return !tolerance.bits || std::signbit(seen) == std::signbit(expected);
  if (std::isinf(seen) || std::isinf(expected) || tolerance.bits) return false;
  const double rel = dtype == DType::bfloat16 ? std::max(tolerance.rel, tolerance.least_bfloat16_rel) : tolerance.rel;
  const double allowed = tolerance.abs + rel * std::abs(expected) + tolerance.ulp * ulp_of(dtype, expected);
  return std::abs(seen - expected) <= allowed;
}

std::string text(double value) { return fmt::format("{}", value); }
std::string text(int64_t value) { return fmt::format("{}", value); }
std::string text(uint64_t value) { return fmt::format("{}", value); }
std::string text(const std::complex<double>& value) { return fmt::format("({}, {})", value.real(), value.imag()); }
std::string text(const std::string& value) { return fmt::format("`{}`", printable(value)); }

// Compares the elements of two lists of one length and says which is the first that differs.
template <typename List, typename Equal>
std::string first_difference(const List& seen, const List& expected, const tensor::Shape& shape, Equal&& equal) {
  uint64_t count = 0;
  uint64_t first = 0;
  for (uint64_t i = 0; i < expected.size(); ++i) {
    if (equal(seen[i], expected[i])) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return {};
  return fmt::format("{} of {} elements differ, the first at [{}]: {}, expected {}", count, expected.size(),
                     fmt::join(tensor::index_of(first, shape), ","), text(seen[first]), text(expected[first]));
}

template <typename C>
std::vector<C> elements(const Tensor& tensor) {
  std::vector<C> values(tensor.count());
  tensor::load(tensor.dtype(), tensor.bytes(), 0, std::span<C>(values));
  return values;
}

std::vector<std::complex<double>> complex_elements(const Tensor& tensor) {
  std::vector<std::complex<double>> values(tensor.count());
  tensor::load_complex(tensor.dtype(), tensor.bytes(), 0, std::span<std::complex<double>>(values));
  return values;
}

std::string element_difference(const Tensor& seen, const Tensor& expected, const Tolerance& tolerance) {
  const DType dtype = expected.dtype();
  const tensor::Shape& shape = expected.shape();
  const auto near = [&](double a, double b) { return is_near(a, b, dtype, tolerance); };
  switch (tensor::kind(dtype)) {
    case DTypeKind::string:
      return first_difference(seen.strings(), expected.strings(), shape, std::equal_to<>());
    case DTypeKind::floating:
      return first_difference(elements<double>(seen), elements<double>(expected), shape, near);
    case DTypeKind::complex:
      return first_difference(
          complex_elements(seen), complex_elements(expected), shape,
          [&](const auto& a, const auto& b) { return near(a.real(), b.real()) && near(a.imag(), b.imag()); });
    case DTypeKind::signed_integer:
      return first_difference(elements<int64_t>(seen), elements<int64_t>(expected), shape, std::equal_to<>());
    default:
      return first_difference(elements<uint64_t>(seen), elements<uint64_t>(expected), shape, std::equal_to<>());
  }
}

std::string tensor_difference(const Tensor& seen, DType declared, const Tensor& expected, const Tolerance& tolerance) {
  if (declared != expected.dtype()) {
    return fmt::format("element type {}, expected {}", tensor::name(declared), tensor::name(expected.dtype()));
  }
  if (seen.shape() != expected.shape()) {
    return fmt::format("shape [{}], expected [{}]", fmt::join(seen.shape(), ","), fmt::join(expected.shape(), ","));
  }
  return element_difference(seen, expected, tolerance);
}

std::string sequence_difference(const Datum& seen, const Datum& expected, const Tolerance& tolerance) {
  if (seen.items().size() != expected.items().size()) {
    return fmt::format("a sequence of {} items, expected {}", seen.items().size(), expected.items().size());
  }
  for (size_t i = 0; i < expected.items().size(); ++i) {
    const std::string found = difference(seen.items()[i], expected.items()[i], tolerance);
    if (!found.empty()) return fmt::format("item {}: {}", i, found);
  }
  return {};
}

std::string map_difference(const Datum& seen, const Datum& expected, const Tolerance& tolerance) {
  const std::string keys = tensor_difference(seen.keys(), seen.keys().dtype(), expected.keys(), Tolerance());
  if (!keys.empty()) return "keys: " + keys;
  const std::string values = tensor_difference(seen.values(), seen.declared(), expected.values(), tolerance);
  return values.empty() ? "" : "values: " + values;
}

std::string_view word(Datum::Kind kind) {
  constexpr std::string_view kWords[] = {"nothing", "a tensor", "a sequence", "a map"};
  return kWords[static_cast<size_t>(kind)];
}

}  // namespace

std::string difference(const Datum& seen, const Datum& expected, const Tolerance& tolerance) {
  if (seen.kind() != expected.kind()) {
    return fmt::format("{}, expected {}", word(seen.kind()), word(expected.kind()));
  }
  switch (expected.kind()) {
    case Datum::Kind::tensor:
      return tensor_difference(seen.tensor(), seen.declared(), expected.tensor(), tolerance);
    case Datum::Kind::sequence:
      return sequence_difference(seen, expected, tolerance);
    case Datum::Kind::map:
      return map_difference(seen, expected, tolerance);
    case Datum::Kind::none:
      break;
  }
  return {};
}

}  // namespace assay::cases
