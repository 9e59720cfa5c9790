#include "compare/auto_tolerance.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "compare/measure.h"

namespace assay::compare {
namespace {

using tensor::DType;
using tensor::Tensor;

std::vector<float> random_floats(size_t count, uint64_t seed, float mean) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal(mean, 1);
  std::vector<float> floats(count);
  for (float& x : floats) x = normal(engine);
  return floats;
}

float sum_ascending(const float* a, const float* b, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

float sum_descending(const float* a, const float* b, size_t n) {
  float sum = 0;
  for (size_t i = n; i-- > 0;) sum += a[i] * b[i];
  return sum;
}

// Rows of the one matrix times rows of the other: what a MatMul and, on unrolled patches, a Conv computes.
template <typename Sum>
Tensor products(const std::vector<float>& a, const std::vector<float>& b, size_t depth, Sum sum) {
  const size_t rows = a.size() / depth;
  const size_t columns = b.size() / depth;
  std::vector<float> out;
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) out.push_back(sum(a.data() + i * depth, b.data() + j * depth, depth));
  }
  return tensor::make_tensor<float>(DType::float32, {static_cast<int64_t>(rows), static_cast<int64_t>(columns)}, out);
}

Tensor with_error(const Tensor& tensor, double error) {
  const auto* from = reinterpret_cast<const float*>(tensor.bytes().data());
  std::vector<float> elements(from, from + tensor.count());
  elements[elements.size() / 2] += static_cast<float>(error);
  return tensor::make_tensor<float>(tensor.dtype(), tensor.shape(), elements);
}

class SummationOrder : public testing::TestWithParam<std::pair<size_t, float>> {};

TEST_P(SummationOrder, PassesWithMarginAndErrorsFail) {
  const auto [depth, mean] = GetParam();
  const std::vector<float> a = random_floats(64 * depth, 1, mean);
  const std::vector<float> b = random_floats(64 * depth, 2, mean);
  const Tensor up = products(a, b, depth, sum_ascending);
  const Tensor down = products(a, b, depth, sum_descending);
  Computation computation;
  computation.accumulation_length = depth;
  computation.magnitude = measure(up, down, {}).b.mean_magnitude;
  const Tolerance tolerance = computed_tolerance(computation);
  MeasureOptions half;
  half.atol = tolerance.atol / 2;
  half.rtol = tolerance.rtol / 2;
  EXPECT_EQ(measure(up, down, half).failed_count, 0U);
  MeasureOptions whole;
  whole.atol = tolerance.atol;
  whole.rtol = tolerance.rtol;
  EXPECT_EQ(measure(with_error(up, 50 * tolerance.atol), down, whole).failed_count, 1U);
}

INSTANTIATE_TEST_SUITE_P(Depths, SummationOrder,
                         testing::Values(std::pair(27UL, 0.0F), std::pair(256UL, 0.0F), std::pair(4096UL, 0.0F),
                                         std::pair(512UL, 1.0F), std::pair(4096UL, 1.0F)));

TEST(AutoTolerance, IntegersAreExactUnlessRounded) {
  EXPECT_EQ(computed_tolerance({DType::int32, DType::int32, 100}).atol, 0);
  EXPECT_EQ(computed_tolerance({DType::int8, DType::float32, 100}).atol, 1);
}

TEST(AutoTolerance, GrowsWithLengthDepthTypeAndFunctions) {
  const Computation base = {DType::float32, DType::float32, 100, 1, false, 2};
  const double plain = computed_tolerance(base).atol;
  EXPECT_DOUBLE_EQ(plain, 2 * 8 * (std::sqrt(101) * 0x1p-24 + 0x1p-24));
  for (const Computation& more : {Computation{DType::float32, DType::float32, 400, 1, false, 2},
                                  {DType::float32, DType::float32, 100, 50, false, 2},
                                  {DType::float32, DType::float16, 100, 1, false, 2},
                                  {DType::float32, DType::float32, 100, 1, true, 2},
                                  {DType::float32, DType::float32, 100, 1, false, 3},
                                  {DType::float16, DType::float32, 100, 1, false, 2}}) {
    EXPECT_GT(computed_tolerance(more).atol, plain);
  }
}

}  // namespace
}  // namespace assay::compare
