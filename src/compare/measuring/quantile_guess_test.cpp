#include "compare/measuring/quantile_guess.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "compare/measure.h"
#include "compare/statistics.h"
#include "tensor/casts.h"

namespace assay::compare {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr uint64_t kCount = (uint64_t{1} << 20) + 12'345;  // enough to be guessed, and a last tile that is not full
constexpr double kInfinite = std::numeric_limits<double>::infinity();

Tensor make(DType dtype, const std::vector<double>& elements) {
  std::vector<std::byte> bytes(tensor::packed_bytes(dtype, elements.size()).value());
  tensor::store(dtype, elements, 0, bytes);
  return Tensor(dtype, {static_cast<int64_t>(elements.size())}, tensor::make_owned(std::move(bytes)));
}

// As NumPy has it: linear between neighbours of the sorted order.
double quantile_of(std::vector<double> elements, double quantile) {
  const double place = quantile * static_cast<double>(elements.size() - 1);
  const auto first = static_cast<size_t>(place);
  std::ranges::nth_element(elements, elements.begin() + static_cast<ptrdiff_t>(first));
  const double low = elements[first];
  const double high = *std::min_element(elements.begin() + static_cast<ptrdiff_t>(first) + 1, elements.end());
  const double share = place - static_cast<double>(first);
  if (share == 0 || low == high) return low;
  return share < 0.5 ? low + (high - low) * share : high - (high - low) * (1 - share);
}

void expect_percentiles(const results::TensorStats& stats, const std::vector<double>& elements, const char* what) {
  ASSERT_TRUE(stats.percentiles) << what;
  EXPECT_EQ(stats.percentiles->median, quantile_of(elements, 0.5)) << what;
  EXPECT_EQ(stats.percentiles->p90, quantile_of(elements, 0.9)) << what;
  EXPECT_EQ(stats.percentiles->p95, quantile_of(elements, 0.95)) << what;
  EXPECT_EQ(stats.percentiles->p99, quantile_of(elements, 0.99)) << what;
}

using Draw = std::function<std::pair<double, double>(std::mt19937_64&)>;

void check(DType dtype, const Draw& draw) {
  std::mt19937_64 engine(7);
  std::vector<double> a(kCount), b(kCount);
  for (uint64_t i = 0; i < kCount; ++i) std::tie(a[i], b[i]) = draw(engine);
  const Tensor first = make(dtype, a);
  const Tensor second = make(dtype, b);
  tensor::load(dtype, first.bytes(), 0, std::span(a));
  tensor::load(dtype, second.bytes(), 0, std::span(b));
  std::vector<double> absolute(kCount), relative(kCount);
  for (uint64_t i = 0; i < kCount; ++i) {
    absolute[i] = std::fabs(a[i] - b[i]);
    const double zero = tensor::is_integer(dtype) ? 0 : 0x1p-52;
    const double reference = b[i] == 0 ? zero : std::fabs(b[i]);
    relative[i] = absolute[i] == 0 ? 0 : absolute[i] / reference;
  }
  const results::PairMetrics metrics = measure(first, second, {.percentiles = true});
  expect_percentiles(metrics.a, a, "a");
  expect_percentiles(metrics.b, b, "b");
  expect_percentiles(metrics.absolute, absolute, "absolute");
  expect_percentiles(metrics.relative, relative, "relative");
  expect_percentiles(statistics(first), a, "alone");
}

double normal(std::mt19937_64& engine) { return std::normal_distribution<double>()(engine); }

std::pair<double, double> noisy(std::mt19937_64& engine) {
  const double x = normal(engine);
  return {x * (1 + 1e-6 * normal(engine)), x};
}

// Half of the elements, and of the differences, are 0.
std::pair<double, double> rectified(std::mt19937_64& engine) {
  const auto [a, b] = noisy(engine);
  return {std::max(a, 0.0), std::max(b, 0.0)};
}

TEST(QuantileGuess, OfNoisyFloats) {
  check(DType::float32, noisy);
  check(DType::float64, noisy);
  check(DType::float16, noisy);
}

TEST(QuantileGuess, OfManyZeros) { check(DType::float32, rectified); }

TEST(QuantileGuess, OfEqualTensors) {
  check(DType::float32, [](std::mt19937_64& engine) {
    const double x = normal(engine);
    return std::pair(x, x);
  });
}

TEST(QuantileGuess, OfFewDifferentNumbers) {
  check(DType::float32, [](std::mt19937_64& engine) {
    const double x = static_cast<double>(engine() % 5) - 2;
    return std::pair(x, x + static_cast<double>(engine() % 3));
  });
  check(DType::float32, [](std::mt19937_64& engine) {  // differences that float32 does not hold
    const double x = static_cast<double>(engine() % 3) * 1e8;
    return std::pair(x + 0.3 * static_cast<double>(engine() % 4), -1e-3);
  });
}

TEST(QuantileGuess, OfRatiosBelowFloat32) {
  check(DType::float32, [](std::mt19937_64& engine) {
    return std::pair(1e-38 * static_cast<double>(engine() % 4), engine() % 2 == 0 ? 3e38 : -3e38);
  });
  check(DType::float64, [](std::mt19937_64& engine) {
    const double x = 1e-60 * normal(engine);
    return std::pair(x, x * (1 + 1e-9 * normal(engine)));
  });
}

TEST(QuantileGuess, OfSortedNumbers) {
  uint64_t next = 0;  // a sample of tiles sees them in order
  check(DType::float32, [&](std::mt19937_64&) {
    const double x = static_cast<double>(next++) / 1000;
    return std::pair(x, x * 1.001);
  });
  next = 0;
  check(DType::float32, [&](std::mt19937_64&) {  // blocks of one number, which the sample may miss
    const double x = static_cast<double>(next++ / 4096 % 7 == 0 ? 1 : 1000 + next % 100);
    return std::pair(x, 0.5 * x);
  });
}

// Tiles of one number: the sample knows much less than its size says, and is often wrong.
TEST(QuantileGuess, OfNumbersThatMisleadTheSample) {
  uint64_t next = 0;
  check(DType::float32, [&](std::mt19937_64&) {
    const double x = std::sin(static_cast<double>(next++ / kTile) * 2.7) + 3;
    return std::pair(x, x * 1.5);
  });
}

TEST(QuantileGuess, OfReversedAndPeriodicNumbers) {
  uint64_t next = 0;
  check(DType::float32, [&](std::mt19937_64&) {
    const double x = -static_cast<double>(next++) / 7;
    return std::pair(x, x + 0.01);
  });
  next = 0;
  check(DType::float32, [&](std::mt19937_64&) {
    const double x = static_cast<double>(next++ % 512 % 16);  // of the sample's own distances
    return std::pair(x, 16 - x);
  });
}

TEST(QuantileGuess, OfSubnormalNumbersAndZeros) {
  check(DType::float32, [](std::mt19937_64& engine) {
    const double x = 1e-42 * normal(engine);
    return std::pair(x, engine() % 4 == 0 ? 0 : 1e-44 * normal(engine));
  });
}

// Codes are shared by many different numbers, which are told apart by loading them again.
TEST(QuantileGuess, OfNumbersThatShareCodes) {
  const auto close = [](std::mt19937_64& engine) {
    return std::pair(1 + 1e-6 * normal(engine), 1 + 1e-9 * normal(engine));
  };
  check(DType::float64, close);
  check(DType::int32, [](std::mt19937_64& engine) {
    return std::pair(std::floor(1.5e9 + 1e3 * normal(engine)), std::floor(-1e9 + 1e3 * normal(engine)));
  });
  check(DType::float32, [](std::mt19937_64& engine) {  // differences of which some need rounding
    const double x = normal(engine);
    return std::pair(x + 0.1 * normal(engine), x);
  });
}

TEST(QuantileGuess, OfOtherTypes) {
  check(DType::bfloat16, noisy);
  check(DType::int8, [](std::mt19937_64& engine) {
    return std::pair(std::round(30 * normal(engine)), std::round(20 * normal(engine)));
  });
}

TEST(QuantileGuess, OfInfinities) {
  std::mt19937_64 engine(3);
  std::vector<double> a(kCount);
  for (double& x : a) x = engine() % 10 == 0 ? kInfinite : normal(engine);
  const Tensor tensor = make(DType::float32, a);
  tensor::load(DType::float32, tensor.bytes(), 0, std::span(a));
  const results::PairMetrics metrics =
      measure(tensor, make(DType::float32, std::vector<double>(kCount, 1)), {.percentiles = true});
  ASSERT_TRUE(metrics.a.percentiles);
  EXPECT_EQ(metrics.a.percentiles->median, quantile_of(a, 0.5));
  EXPECT_EQ(metrics.a.percentiles->p95, kInfinite);
  EXPECT_EQ(metrics.b.percentiles->median, 1);
}

TEST(QuantileGuess, OfNotANumberIsNone) {
  std::vector<double> a(kCount, 1);
  a[kCount / 2] = std::nan("");
  const results::PairMetrics metrics =
      measure(make(DType::float32, a), make(DType::float32, std::vector<double>(kCount, 1)), {.percentiles = true});
  EXPECT_TRUE(std::isnan(metrics.a.percentiles->median));
  EXPECT_EQ(metrics.b.percentiles->median, 1);
}

}  // namespace
}  // namespace assay::compare
