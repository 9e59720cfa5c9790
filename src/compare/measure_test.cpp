#include "compare/measure.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/parallel.h"
#include "compare/measuring/tile_kernels.h"
#include "compare/statistics.h"

namespace assay::compare {
namespace {

using results::PairMetrics;
using tensor::DType;
using tensor::Tensor;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename T>
Tensor make(DType dtype, std::vector<T> elements) {
  return tensor::make_tensor<T>(dtype, {static_cast<int64_t>(elements.size())}, elements);
}
Tensor floats(std::vector<float> elements) { return make<float>(DType::float32, std::move(elements)); }
Tensor doubles(std::vector<double> elements) { return make<double>(DType::float64, std::move(elements)); }
Tensor empty(DType dtype) { return Tensor(dtype, {0}, tensor::make_owned({})); }

using Place = std::vector<int64_t>;

TEST(Measure, NumbersOfAHandfulOfFloats) {
  const PairMetrics metrics = measure(floats({1, 2, 3, 4}), floats({1, 2.5, 3, 2}), {.atol = 0.5, .rtol = 0});
  EXPECT_EQ(metrics.count, 4U);
  EXPECT_EQ(metrics.a.mean, 2.5);
  EXPECT_EQ(metrics.a.variance, 1.25);
  EXPECT_EQ(metrics.absolute.greatest, 2);
  EXPECT_EQ(metrics.absolute.mean, 0.625);
  EXPECT_EQ(metrics.relative.greatest, 1);
  EXPECT_EQ(metrics.relative.mean, 0.3);
  EXPECT_EQ(metrics.l2, std::sqrt(4.25));
  EXPECT_EQ(metrics.failed_count, 1U);
  EXPECT_EQ(metrics.first_failed_at, Place{3});
  EXPECT_EQ(metrics.worst_at, Place{3});
  EXPECT_DOUBLE_EQ(metrics.cosine, (1 + 5 + 9 + 8) / std::sqrt(30.0) / std::sqrt(20.25));
  EXPECT_DOUBLE_EQ(metrics.psnr_db, 20 * std::log10(4) - 10 * std::log10(4.25 / 4));
  EXPECT_DOUBLE_EQ(metrics.snr_db, 10 * std::log10(30 / 4.25));
}

// A third of the elements are a step larger: the variance is 2 / 9 of its square, though the mean lies between two
// steps.
TEST(Measure, VarianceOfLargeNumbersIsThatOfTheirSteps) {
  std::vector<double> elements(1536 + 300);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = 1e15 + (i % 3 == 0 ? 0.125 : 0);
  const PairMetrics metrics = measure(doubles(elements), doubles(elements), {});
  EXPECT_NEAR(metrics.a.variance, 0.015625 * 2 / 9, 1e-15);
}

// Squares leave the range of a double; their roots do not: deviations of 1, 1, 1 and 3 units, and twice 1.
TEST(Measure, StandardDeviationsOfExtremeMagnitudes) {
  for (const double unit : {1e200, 1e-200, 0x1p1020, 0x1p-1000}) {
    SCOPED_TRACE(unit);
    const Tensor sides[] = {doubles({unit, unit, unit, 5 * unit}), doubles({3 * unit, unit, 3 * unit, unit})};
    const PairMetrics metrics = measure(sides[0], sides[1], {});
    EXPECT_DOUBLE_EQ(metrics.a.standard_deviation / unit, std::sqrt(3));
    EXPECT_DOUBLE_EQ(metrics.b.standard_deviation / unit, 1);
    EXPECT_DOUBLE_EQ(metrics.a.mean / unit, 2);
    EXPECT_DOUBLE_EQ(metrics.a.mean_magnitude / unit, 2);
    EXPECT_EQ(metrics.a.variance, unit > 1 ? kInfinity : 0);
    EXPECT_DOUBLE_EQ(statistics(sides[0]).standard_deviation / unit, std::sqrt(3));
  }
  const PairMetrics metrics = measure(doubles({1e154, -1e154, 1e154}), doubles({0, 1e-154, 0}), {});
  EXPECT_DOUBLE_EQ(metrics.a.variance, 8e307 / 9 * 10);  // the sum of squares overflows
  EXPECT_DOUBLE_EQ(metrics.b.standard_deviation, 1e-154 * std::sqrt(2) / 3);
}

TEST(Measure, StandardDeviationsOfManyExtremeNumbers) {
  for (const double unit : {1e200, 1e-200}) {
    std::vector<double> elements(100000);
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<double>(i % 4) * unit;
    EXPECT_NEAR(statistics(doubles(elements)).standard_deviation / unit, std::sqrt(1.25), 1e-14);
  }
  const std::vector<double> same(2000, 0x1.8p1023);
  EXPECT_EQ(statistics(doubles(same)).standard_deviation, 0);
  EXPECT_EQ(statistics(doubles(same)).mean_magnitude, 0x1.8p1023);
}

TEST(Measure, MeansOfTheLargestNumbersAreFinite) {
  std::vector<double> elements(2048, 0x1.8p1023);
  std::fill_n(elements.begin(), 512, -0x1.8p1023);
  EXPECT_DOUBLE_EQ(measure(doubles(elements), doubles(elements), {}).a.mean, 0x1.8p1022);
  EXPECT_DOUBLE_EQ(
      measure(doubles({0x1.8p1023, -0x1.8p1023, 0x1.8p1023, 0x1.8p1023}), doubles({0, 0, 0, 0}), {}).a.mean,
      0x1.8p1022);
}

TEST(Measure, CosineWithNanIsNan) {
  EXPECT_TRUE(std::isnan(measure(doubles({NAN, -0.0}), doubles({0, 0}), {}).cosine));
  EXPECT_TRUE(std::isnan(measure(doubles({0, 0}), doubles({NAN, 1}), {}).cosine));
}

TEST(Measure, NanFailsAndIsWorst) {
  const PairMetrics metrics = measure(floats({1, 9, NAN, 4}), floats({1, 2, 3, 4}), {});
  EXPECT_EQ(metrics.a.nan_count, 1U);
  EXPECT_EQ(metrics.absolute.nan_count, 1U);
  EXPECT_TRUE(std::isnan(metrics.absolute.greatest));
  EXPECT_TRUE(std::isnan(metrics.a.mean));
  EXPECT_EQ(metrics.a.least_at, Place{2});
  EXPECT_EQ(metrics.failed_count, 2U);
  EXPECT_EQ(metrics.first_failed_at, Place{1});
  EXPECT_EQ(metrics.worst_at, Place{2});
  EXPECT_EQ(metrics.max_ulp, std::numeric_limits<uint64_t>::max());
  EXPECT_TRUE(std::isnan(metrics.cosine));
  EXPECT_TRUE(std::isnan(metrics.l2));
  EXPECT_EQ(measure(floats({NAN}), floats({NAN}), {}).failed_count, 1U);
  EXPECT_EQ(measure(floats({NAN}), floats({NAN}), {}).max_ulp, 0U);
}

TEST(Measure, EqualInfinitiesAsAsked) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const Tensor a = floats({kInf, -kInf, 1, kInf});
  const Tensor b = floats({kInf, -kInf, 1, -kInf});
  EXPECT_EQ(measure(a, b, {}).failed_count, 3U);
  const PairMetrics metrics = measure(a, b, {.infinities_equal = true});
  EXPECT_EQ(metrics.failed_count, 1U);
  EXPECT_EQ(metrics.absolute.greatest, kInfinity);
  EXPECT_EQ(metrics.a.inf_count, 3U);
}

TEST(Measure, ZeroReferences) {
  EXPECT_EQ(measure(floats({1e-20F}), floats({0}), {}).relative.greatest, 1e-20F / 2.220446049250313e-16);
  EXPECT_EQ(measure(floats({-0.0F}), floats({0}), {}).relative.greatest, 0);
  const PairMetrics metrics = measure(make<int32_t>(DType::int32, {0, 5}), make<int32_t>(DType::int32, {0, 0}), {});
  EXPECT_EQ(metrics.relative.least, 0);
  EXPECT_EQ(metrics.relative.greatest, kInfinity);
  EXPECT_EQ(metrics.relative.nan_count, 0U);
}

TEST(Measure, IntegersDoNotWrap) {
  constexpr int32_t kLow32 = std::numeric_limits<int32_t>::min();
  constexpr int32_t kHigh32 = std::numeric_limits<int32_t>::max();
  constexpr int64_t kLow64 = std::numeric_limits<int64_t>::min();
  constexpr uint64_t kHigh64 = std::numeric_limits<uint64_t>::max();
  const PairMetrics narrow = measure(make<int32_t>(DType::int32, {kLow32}), make<int32_t>(DType::int32, {kHigh32}), {});
  EXPECT_EQ(narrow.absolute.greatest, 4294967295.0);
  EXPECT_EQ(narrow.max_ulp, 4294967295U);
  const PairMetrics wide = measure(make<uint64_t>(DType::uint64, {3, (uint64_t{1} << 63) + 1}),
                                   make<uint64_t>(DType::uint64, {5, uint64_t{1} << 63}), {.atol = 0, .rtol = 0});
  EXPECT_EQ(wide.absolute.greatest, 2);
  EXPECT_EQ(wide.absolute.least, 1);
  EXPECT_EQ(wide.failed_count, 2U);
  const PairMetrics mixed =
      measure(make<int64_t>(DType::int64, {kLow64}), make<uint64_t>(DType::uint64, {kHigh64}), {});
  EXPECT_EQ(mixed.absolute.greatest, 0x1.8p64);
  EXPECT_EQ(mixed.max_ulp, kHigh64);
}

TEST(Measure, UlpsAreThoseOfTheNarrowerType) {
  const float next = std::nextafter(1.0F, 2.0F);
  EXPECT_EQ(measure(floats({1}), floats({next}), {}).max_ulp, 1U);
  EXPECT_EQ(measure(floats({-0.0F}), floats({0}), {}).max_ulp, 0U);
  EXPECT_EQ(measure(floats({-1e-45F}), floats({1e-45F}), {}).max_ulp, 2U);
  EXPECT_EQ(measure(floats({1}), doubles({double{next} + 1e-12}), {}).max_ulp, 1U);
  EXPECT_EQ(measure(doubles({1}), doubles({std::nextafter(1.0, 0.0)}), {}).max_ulp, 1U);
  EXPECT_EQ(measure(make<uint16_t>(DType::float16, {0x3C00}), make<uint16_t>(DType::float16, {0xBC00}), {}).max_ulp,
            2U * 0x3C00);
  EXPECT_EQ(measure(make<uint16_t>(DType::float16, {0x3C00}), make<uint16_t>(DType::bfloat16, {0x3F82}), {}).max_ulp,
            2U);
  EXPECT_EQ(measure(make<uint8_t>(DType::float8e4m3fn, {0x38}), make<uint8_t>(DType::float8e4m3fn, {0xB8}), {}).max_ulp,
            0x70U);
  EXPECT_EQ(measure(floats({-3.4e38F}), floats({3.4e38F}), {}).max_ulp, 2U * 0x7F7FC99E);
}

TEST(Measure, BooleansCountAsNumbers) {
  const PairMetrics metrics =
      measure(make<uint8_t>(DType::boolean, {1, 0, 1}), make<uint8_t>(DType::boolean, {1, 1, 1}), {});
  EXPECT_EQ(metrics.failed_count, 1U);
  EXPECT_DOUBLE_EQ(metrics.a.mean, 2.0 / 3);
  EXPECT_EQ(metrics.max_ulp, 1U);
}

TEST(Measure, ComplexNumbersByTheirDistance) {
  const Tensor a = tensor::make_tensor<float>(DType::complex64, {2}, std::vector<float>{3, 4, 1, 0});
  const Tensor b = tensor::make_tensor<float>(DType::complex64, {2}, std::vector<float>{0, 0, 1, 0});
  const PairMetrics metrics = measure(a, b, {});
  EXPECT_EQ(metrics.absolute.greatest, 5);
  EXPECT_EQ(metrics.failed_count, 1U);
}

TEST(Measure, StringsAreEqualOrNot) {
  const Tensor a(DType::string, {2, 1}, tensor::make_strings({"x", "y"}));
  const Tensor b(DType::string, {2, 1}, tensor::make_strings({"x", "z"}));
  const PairMetrics metrics = measure(a, b, {});
  EXPECT_EQ(metrics.failed_count, 1U);
  EXPECT_EQ(metrics.first_failed_at, (Place{1, 0}));
  EXPECT_THROW(measure(a, floats({1, 2}), {}), Error);
}

// Squares of these leave the range of a double; the distances do not.
TEST(Measure, DistancesOfExtremeMagnitudes) {
  for (const double unit : {1.0, 0x1p-600, 0x1p600, 0x1p-1060, 0x1p1020}) {
    SCOPED_TRACE(unit);
    const PairMetrics metrics = measure(doubles({3 * unit, 4 * unit}), doubles({3 * unit, 4.5 * unit}), {});
    EXPECT_EQ(metrics.l2, 0.5 * unit);
    EXPECT_NEAR(metrics.cosine, 27 / (5 * std::sqrt(29.25)), 1e-12);
    EXPECT_NEAR(metrics.snr_db, 20, 1e-9);  // 25 / 0.25
    EXPECT_NEAR(metrics.psnr_db, 10 * std::log10(16 / 0.125), 1e-9);
    EXPECT_EQ(measure(doubles({unit, 0}), doubles({0, unit}), {}).cosine, 0);
    EXPECT_EQ(measure(doubles({unit}), doubles({-unit}), {}).cosine, -1);
  }
  const Tensor a = make<double>(DType::float64, {1e-200, 1e150});
  EXPECT_NEAR(measure(a, make<double>(DType::float64, {1e-200, 2e150}), {}).l2 / 1e150, 1, 1e-12);
}

TEST(Measure, DistancesOfExtremeComplexNumbers) {
  const Tensor a = tensor::make_tensor<double>(DType::complex128, {1}, std::vector<double>{3e200, 4e200});
  const Tensor b = tensor::make_tensor<double>(DType::complex128, {1}, std::vector<double>{4e200, -3e200});
  const PairMetrics metrics = measure(a, b, {});
  EXPECT_NEAR(metrics.l2 / (std::sqrt(50) * 1e200), 1, 1e-12);
  EXPECT_NEAR(metrics.cosine, 0, 1e-12);
}

TEST(Measure, EmptyAndScalar) {
  const PairMetrics none = measure(empty(DType::float32), empty(DType::int8), {.percentiles = true, .quantile = 0.5});
  EXPECT_EQ(none.count, 0U);
  EXPECT_EQ(none.cosine, 1);
  EXPECT_EQ(none.l2, 0);
  EXPECT_FALSE(none.worst_at);
  EXPECT_TRUE(std::isnan(none.absolute.mean));
  EXPECT_TRUE(std::isnan(*none.quantile_absolute));
  const Tensor scalar = tensor::make_tensor<float>(DType::float32, {}, std::vector<float>{2});
  EXPECT_EQ(measure(scalar, scalar, {}).worst_at, Place{});
}

TEST(Measure, CosineOfZerosAndOfTheSame) {
  EXPECT_EQ(measure(floats({0, 0}), floats({0, 0}), {}).cosine, 1);
  EXPECT_EQ(measure(floats({0, 0}), floats({1, 0}), {}).cosine, 0);
  EXPECT_EQ(measure(floats({0.1F, 0.7F}), floats({0.1F, 0.7F}), {}).cosine, 1);
  EXPECT_EQ(measure(floats({1, 2}), floats({-1, -2}), {}).cosine, -1);
  EXPECT_EQ(measure(floats({1}), floats({1}), {}).psnr_db, kInfinity);
  EXPECT_EQ(measure(floats({0}), floats({1}), {}).snr_db, -kInfinity);
}

TEST(Measure, Divergence) {
  const PairMetrics metrics = measure(floats({1, 1}), floats({1, 3}), {.divergence = true});
  EXPECT_NEAR(*metrics.divergence, 0.25 * std::log(0.5) + 0.75 * std::log(1.5), 1e-15);
  EXPECT_EQ(*measure(floats({1, 0}), floats({1, 3}), {.divergence = true}).divergence, kInfinity);
  EXPECT_TRUE(std::isnan(*measure(floats({1, -1}), floats({1, 3}), {.divergence = true}).divergence));
}

// The mean is far from 0 and the spread small: sums of squares would cancel.
TEST(Measure, VarianceDoesNotCancel) {
  std::vector<double> elements;
  for (int i = 0; i < 100000; ++i) elements.push_back(1e9 + i % 2);
  const PairMetrics metrics = measure(doubles(elements), doubles(elements), {});
  EXPECT_NEAR(metrics.a.variance, 0.25, 1e-9);
  EXPECT_NEAR(metrics.a.mean, 1e9 + 0.5, 1e-6);
}

// The first element of every tile, from which distances are summed, is far from all others.
TEST(Measure, VarianceDoesNotCancelBehindAnOutlier) {
  for (const size_t count : {size_t{511}, size_t{512}, size_t{51200}}) {
    std::vector<double> elements(count);
    for (size_t i = 0; i < count; ++i) elements[i] = i % 512 == 0 ? 1e5 : static_cast<double>(i % 7);
    long double sum = 0, squares = 0;
    for (const double x : elements) sum += x;
    const long double mean = sum / static_cast<long double>(count);
    for (const double x : elements) squares += (x - mean) * (x - mean);
    const auto variance = static_cast<double>(squares / static_cast<long double>(count));
    const PairMetrics metrics = measure(doubles(elements), doubles(elements), {});
    EXPECT_NEAR(metrics.a.variance, variance, 1e-14 * variance);
  }
}

TEST(Measure, FirstFailedIsFoundInAnyTile) {
  for (const size_t place : {size_t{0}, size_t{511}, size_t{512}, size_t{100000}, size_t{199999}}) {
    std::vector<float> a(200000, 1);
    const Tensor b = floats(a);
    a[place] = 2;
    if (place + 3 < a.size()) a[place + 3] = 2;
    const PairMetrics metrics = measure(floats(a), b, {});
    EXPECT_EQ(metrics.first_failed_at, Place{static_cast<int64_t>(place)});
    EXPECT_EQ(metrics.a.greatest_at, Place{static_cast<int64_t>(place)});
    EXPECT_EQ(metrics.failed_count, place + 3 < a.size() ? 2U : 1U);
  }
}

std::vector<float> bumpy(size_t count, float phase) {
  std::vector<float> elements(count);
  for (size_t i = 0; i < count; ++i) elements[i] = std::sin(static_cast<float>(i) * 0.37F + phase) * 1e3F;
  return elements;
}

// NaN compares as its bits.
std::vector<uint64_t> bits_of(const PairMetrics& metrics) {
  std::vector<double> numbers = {metrics.l2, metrics.cosine, metrics.psnr_db, metrics.snr_db};
  for (const results::TensorStats* stats : {&metrics.a, &metrics.b, &metrics.absolute, &metrics.relative}) {
    const results::Percentiles& p = *stats->percentiles;
    numbers.insert(numbers.end(), {stats->mean, stats->variance, stats->least, stats->greatest, stats->mean_magnitude,
                                   p.median, p.p90, p.p95, p.p99});
    numbers.insert(numbers.end(), stats->greatest_at.begin(), stats->greatest_at.end());
    numbers.insert(numbers.end(), stats->histogram->counts.begin(), stats->histogram->counts.end());
  }
  std::vector<uint64_t> bits(numbers.size());
  memcpy(bits.data(), numbers.data(), numbers.size() * sizeof(double));
  bits.push_back(metrics.max_ulp);
  bits.push_back(metrics.failed_count);
  return bits;
}

TEST(Measure, NoBitDependsOnTheThreads) {
  const Tensor a = floats(bumpy(600001, 0));
  const Tensor b = floats(bumpy(600001, 1e-5F));
  std::vector<std::vector<uint64_t>> seen;
  for (const unsigned threads : {1U, 2U, 3U}) {
    set_thread_count(threads);
    seen.push_back(bits_of(measure(a, b, {.percentiles = true, .histograms = true})));
  }
  set_thread_count(0);
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
}

struct alignas(64) KernelResults {
  double a[kTile], b[kTile], difference[kTile], relative[kTile];
  TileSums sums[2];
  TileRelation relation;
  uint64_t ulps[3] = {};
  BracketCount count;
  TileBits inside;
  EdgeCounts from;
  PairSums pair;
};

// Wide floats have the same bits in every kernel.
KernelResults run_kernels(const TileKernels& kernels) {
  KernelResults out;
  const std::vector<float> a = bumpy(kTile, 0);
  const std::vector<float> b = bumpy(kTile, 1e-3F);
  kernels.widen(a.data(), out.a);
  kernels.widen(b.data(), out.b);
  out.b[17] = 0;
  out.b[18] = out.a[18];
  kernels.subtract(out.a, out.b, out.difference);
  const double* const abd[3] = {out.a, out.b, out.difference};
  out.relation = kernels.relate(abd, {1e-1, 1e-3, 1e-16}, out.relative);
  kernels.summarize(out.a, true, out.sums[0]);
  kernels.summarize(out.relative, false, out.sums[1]);
  kernels.survey64(out.a, out.b, {1e-1, 1e-3, 1e-16}, out.pair);
  out.count = kernels.sieve(out.a, {-10, 20}, out.inside);
  kernels.count_from(out.a, {-900, -500, -100, 0, 1, 2, 300, 999, 1001}, out.from);
  alignas(64) uint64_t codes[2][kTile];
  memcpy(codes[0], out.a, sizeof codes[0]);
  memcpy(codes[1], out.b, sizeof codes[1]);
  out.ulps[0] = kernels.ulp64(codes[0], codes[1]);
  out.ulps[1] = kernels.ulp32(reinterpret_cast<uint32_t*>(codes[0]), reinterpret_cast<uint32_t*>(codes[1]));
  out.ulps[2] = kernels.ulp16(reinterpret_cast<uint16_t*>(codes[0]), reinterpret_cast<uint16_t*>(codes[1]));
  return out;
}

TEST(TileKernels, AllInstructionSetsGiveTheSameBits) {
  const KernelResults base = run_kernels(tile_kernels().back());
  EXPECT_GT(base.relation.failed, 0U);
  for (const TileKernels& kernels : tile_kernels()) {
    const KernelResults other = run_kernels(kernels);
    EXPECT_EQ(memcmp(base.relative, other.relative, sizeof base.relative), 0) << kernels.name;
    EXPECT_EQ(memcmp(base.sums, other.sums, sizeof base.sums), 0) << kernels.name;
    EXPECT_EQ(memcmp(&base.relation, &other.relation, sizeof base.relation), 0) << kernels.name;
    EXPECT_EQ(memcmp(&base.count, &other.count, sizeof base.count), 0) << kernels.name;
    EXPECT_EQ(memcmp(base.inside, other.inside, sizeof base.inside), 0) << kernels.name;
    EXPECT_EQ(memcmp(base.from, other.from, sizeof base.from), 0) << kernels.name;
    EXPECT_EQ(memcmp(&base.pair, &other.pair, sizeof base.pair), 0) << kernels.name;
    EXPECT_EQ(memcmp(base.ulps, other.ulps, sizeof base.ulps), 0) << kernels.name;
  }
}

TEST(TileKernels, SurveyIsAllTheOthersAtOnce) {
  for (const TileKernels& kernels : tile_kernels()) {
    const KernelResults found = run_kernels(kernels);
    EXPECT_EQ(memcmp(&found.pair.series[0], &found.sums[0], sizeof found.sums[0]), 0) << kernels.name;
    EXPECT_EQ(memcmp(&found.pair.series[3], &found.sums[1], sizeof found.sums[1]), 0) << kernels.name;
    EXPECT_EQ(memcmp(&found.pair.relation, &found.relation, sizeof found.relation), 0) << kernels.name;
    alignas(64) double wide[kTile];
    PairSums pair;
    const std::vector<float> a = bumpy(kTile, 0), b = bumpy(kTile, 1e-3F);
    kernels.survey32(a.data(), b.data(), {1e-1, 1e-3, 1e-16}, pair);
    kernels.widen(a.data(), wide);
    TileSums sums;
    kernels.summarize(wide, true, sums);
    EXPECT_EQ(memcmp(&pair.series[0], &sums, sizeof sums), 0) << kernels.name;
  }
}

TEST(TileKernels, SieveSaysWhatIsInside) {
  for (const TileKernels& kernels : tile_kernels()) {
    const KernelResults found = run_kernels(kernels);
    uint64_t below = 0, inside = 0;
    for (uint64_t i = 0; i < kTile; ++i) {
      const bool is_inside = found.a[i] >= -10 && found.a[i] <= 20;
      EXPECT_EQ((found.inside[i / 64] >> i % 64 & 1) != 0, is_inside) << kernels.name << " " << i;
      below += found.a[i] < -10;
      inside += is_inside;
    }
    EXPECT_EQ(found.count.below, below) << kernels.name;
    EXPECT_EQ(found.count.inside, inside) << kernels.name;
    EXPECT_GT(inside, 0U);
  }
}

}  // namespace
}  // namespace assay::compare
