#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "compare/measure.h"
#include "tensor/casts.h"
#include "tensor/elements.h"

// measure() beside loops in long double, for every pair of types.
namespace assay::compare {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr DType kTypes[] = {
    DType::float32,    DType::float64,        DType::float16,    DType::bfloat16,     DType::int8,
    DType::int16,      DType::int32,          DType::int64,      DType::uint8,        DType::uint16,
    DType::uint32,     DType::uint64,         DType::boolean,    DType::float8e4m3fn, DType::float8e4m3fnuz,
    DType::float8e5m2, DType::float8e5m2fnuz, DType::float8e8m0, DType::int4,         DType::uint4,
    DType::float4e2m1, DType::int2,           DType::uint2,      DType::float6e2m3,   DType::float6e3m2};

// Random bits, so that all kinds of numbers come up.
Tensor random_tensor(DType dtype, uint64_t count, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<std::byte> bytes(tensor::packed_bytes(dtype, count).value_or(0));
  for (std::byte& byte : bytes) byte = std::byte(engine());
  if (dtype == DType::boolean) {
    for (std::byte& byte : bytes) byte &= std::byte{1};
  }
  return Tensor(dtype, {static_cast<int64_t>(count)}, tensor::make_owned(std::move(bytes)));
}

// 64 bits of mantissa hold every element of every type.
std::vector<long double> exact_elements(const Tensor& tensor) {
  std::vector<long double> exact;
  if (tensor.dtype() == DType::int64) {
    for (const int64_t x : tensor::load_elements<int64_t>(tensor)) exact.push_back(static_cast<long double>(x));
  } else if (tensor.dtype() == DType::uint64) {
    for (const uint64_t x : tensor::load_elements<uint64_t>(tensor)) exact.push_back(static_cast<long double>(x));
  } else {
    for (const double x : tensor::load_elements<double>(tensor)) exact.push_back(x);
  }
  return exact;
}

bool is_whole(DType dtype) { return tensor::is_integer(dtype) || dtype == DType::boolean; }

struct Naive {
  std::vector<double> absolute;
  std::vector<double> relative;
  uint64_t failed = 0;
};

Naive naive_differences(const Tensor& a, const Tensor& b, const MeasureOptions& options) {
  const std::vector<long double> exact_a = exact_elements(a);
  const std::vector<long double> exact_b = exact_elements(b);
  const bool both_whole = is_whole(a.dtype()) && is_whole(b.dtype());
  Naive naive;
  for (size_t i = 0; i < exact_a.size(); ++i) {
    const double y = static_cast<double>(exact_b[i]);
    const double difference = both_whole ? static_cast<double>(std::fabs(exact_a[i] - exact_b[i]))
                                         : std::fabs(static_cast<double>(exact_a[i]) - y);
    const double zero = is_whole(b.dtype()) ? 0 : 2.220446049250313e-16;
    const double relative = difference == 0 ? 0 : difference / std::fabs(y == 0 ? zero : y);
    naive.absolute.push_back(difference);
    naive.relative.push_back(relative);
    naive.failed += !(difference <= options.atol) && !(relative <= options.rtol);
  }
  return naive;
}

void expect_near(double got, long double expected, const char* what) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(got)) << what;
  } else if (std::isinf(static_cast<double>(expected)) || std::isinf(got)) {
    EXPECT_EQ(got, static_cast<double>(expected)) << what;
  } else {
    EXPECT_LE(std::fabs(got - expected), 1e-11L * std::fabs(expected)) << what;
  }
}

void expect_stats(const results::TensorStats& stats, const std::vector<double>& elements) {
  long double sum = 0, magnitude = 0;
  uint64_t nans = 0, infinities = 0;
  for (const double x : elements) {
    sum += x;
    magnitude += std::fabs(x);
    nans += std::isnan(x);
    infinities += std::isinf(x);
  }
  const auto count = static_cast<long double>(elements.size());
  EXPECT_EQ(stats.nan_count, nans);
  EXPECT_EQ(stats.inf_count, infinities);
  expect_near(stats.mean_magnitude, magnitude / count, "magnitude");
  // a mean near 0 is as exact as its terms
  if (std::isfinite(static_cast<double>(sum))) {
    EXPECT_LE(std::fabs(stats.mean - sum / count), 1e-11L * (magnitude / count)) << "mean";
  } else if (std::fabs(sum) < 1e4000L) {
    expect_near(stats.mean, sum / count, "mean");
  }
  if (nans + infinities != 0) {
    EXPECT_TRUE(std::isnan(stats.variance));
  } else {
    long double squares = 0;
    for (const double x : elements) squares += (x - sum / count) * (x - sum / count);
    // the mean is rounded to a double, which the spread around it feels
    const long double variance = squares / count;
    const long double mean_error = 4 * 0x1p-53L * std::fabs(sum / count);
    EXPECT_LE(std::fabs(stats.variance - variance),
              1e-11L * variance + mean_error * std::sqrt(variance) + mean_error * mean_error);
  }
  if (nans != 0) {
    EXPECT_TRUE(std::isnan(stats.greatest));
  } else {
    const auto greatest = std::ranges::max_element(elements);
    EXPECT_EQ(stats.greatest, *greatest);
    EXPECT_EQ(stats.greatest_at, (std::vector<int64_t>{static_cast<int64_t>(greatest - elements.begin())}));
    const auto least = std::ranges::min_element(elements);
    EXPECT_EQ(stats.least, *least);
    EXPECT_EQ(stats.least_at, (std::vector<int64_t>{static_cast<int64_t>(least - elements.begin())}));
  }
}

TEST(MeasureProperty, EveryPairOfTypesIsAsTheNaiveLoopsSay) {
  const MeasureOptions options = {.atol = 1, .rtol = 1e-2};
  for (const DType x : kTypes) {
    for (const DType y : kTypes) {
      const Tensor a = random_tensor(x, 1300, 1);
      const Tensor b = random_tensor(y, 1300, 2);
      SCOPED_TRACE(tensor::name(x) + " and " + tensor::name(y));
      const results::PairMetrics metrics = measure(a, b, options);
      const Naive naive = naive_differences(a, b, options);
      if (x == DType::float64 || y == DType::float64) {  // squares overflow: only what does not depend on them
        EXPECT_EQ(metrics.failed_count, naive.failed);
        continue;
      }
      expect_stats(metrics.a, tensor::load_elements<double>(a));
      expect_stats(metrics.b, tensor::load_elements<double>(b));
      expect_stats(metrics.absolute, naive.absolute);
      expect_stats(metrics.relative, naive.relative);
      EXPECT_EQ(metrics.failed_count, naive.failed);
    }
  }
}

}  // namespace
}  // namespace assay::compare
