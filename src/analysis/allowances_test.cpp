#include "analysis/allowances.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "support/parsed_model.h"

namespace assay::analysis {
namespace {

tensor::Tensor floats(tensor::Shape shape, const std::vector<float>& values) {
  return tensor::make_tensor<float>(tensor::DType::float32, std::move(shape), values);
}

tensor::Tensor normal(tensor::Shape shape, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> distribution(0, 1);
  std::vector<float> values(*tensor::element_count(shape));
  for (float& value : values) value = distribution(engine);
  return floats(std::move(shape), values);
}

compare::Allowance of(const char* text, const tensor::Tensor& x, const std::string& name = "y") {
  const ir::Model model = testing_support::parsed(text);
  return allowances(model, {{"x", x}}, {name}, {}).at(name);
}

TEST(Allowances, what_rounds_nothing_must_be_equal) {
  const compare::Allowance sum =
      of("g (float[4] x) => (float[4] y) { a = Add(x, x) y = Relu(a) }", floats({4}, {1, 2, -3, 4}));
  EXPECT_LT(sum.of_elements[3], 1e-5F);
  EXPECT_EQ(sum.reason, "all correct computations give the same");
  const compare::Allowance shape = of("g (float[a, b] x) => (int64[2] y) { y = Shape(x) }", normal({2, 3}, 1));
  EXPECT_EQ(shape.of_elements, (std::vector<float>{0, 0}));
}

TEST(Allowances, roundings_of_float32_are_seen_and_larger_errors_are_not_allowed) {
  const compare::Allowance root = of("g (float[256] x) => (float[256] y) { a = Abs(x) y = Sqrt(a) }", normal({256}, 2));
  for (const float allowed : root.of_elements) {
    EXPECT_GT(allowed, 1e-8F);
    EXPECT_LT(allowed, 1e-5F);
  }
}

// x - mean(x) where all are about 1000: what is left of the roundings is a thousand times as large, beside the result.
TEST(Allowances, cancellation_is_followed) {
  std::vector<float> values(256);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 1000 + std::sin(static_cast<float>(i));
  const char* const text =
      "g (float[1, 256] x) => (float[1, 256] y) <int64[1] axes = {1}> { m = ReduceMean(x, axes) y = Sub(x, m) }";
  const compare::Allowance far = of(text, floats({1, 256}, values));
  for (float& value : values) value -= 1000;
  const compare::Allowance near = of(text, floats({1, 256}, values));
  EXPECT_GT(far.of_elements[10], 50 * near.of_elements[10]);
  EXPECT_LT(far.of_elements[10], 1e-2F);
}

TEST(Allowances, powers_of_negative_numbers_are_followed) {
  const compare::Allowance allowance =
      of("g (float[256] x) => (float[256] y) <float two = {2}> { s = Sin(x) y = Pow(s, two) }", normal({256}, 8));
  for (const float allowed : allowance.of_elements) EXPECT_LT(allowed, 1e-4F);
}

TEST(Allowances, what_overflows_in_some_runs_alone_is_unknown) {
  std::vector<float> values(64, 88.72284F);  // exp is 0.9999998 times the greatest float32
  EXPECT_TRUE(
      of("g (float[64] x) => (float[64] y) { s = Sqrt(x) t = Mul(s, s) y = Exp(t) }", floats({64}, values)).is_unknown);
}

TEST(Allowances, clipping_does_not_hide_the_error_before_it) {
  const char* const text =
      "g (float[1, 512] x) => (float[1, 512] y) <float lo = {0}, float hi = {0.01}> "
      "{ s = Softmax(x) c = Mul(s, hi) y = Clip(x, lo, hi) }";
  const compare::Allowance softmax = of(text, normal({1, 512}, 3), "s");
  EXPECT_GT(softmax.of_elements[0], 0);
  EXPECT_LT(softmax.of_elements[0], 1e-4F);
}

TEST(Allowances, truths_differ_only_near_their_edge) {
  const char* const text =
      "g (float[4] x) => (bool[4] y) <float two = {2}> { r = Sqrt(x) s = Mul(r, r) y = Less(s, two) }";
  const compare::Allowance allowance = of(text, floats({4}, {1, 2, 3, 5}));
  EXPECT_EQ(allowance.of_elements, (std::vector<float>{0, 1, 0, 0}));
}

TEST(Allowances, a_quantizer_may_fall_to_the_next_step_at_its_edge_alone) {
  const char* const text =
      "g (float[4] x) => (uint8[4] y) <float s = {0.1}, uint8 z = {0}> { r = Sqrt(x) y = QuantizeLinear(r, s, z) }";
  const compare::Allowance allowance = of(text, floats({4}, {1, 0.0025F, 9, 4}));
  EXPECT_EQ(allowance.of_elements, (std::vector<float>{0, 1, 0, 0}));
}

TEST(Allowances, runs_are_repeated_bit_by_bit) {
  const char* const text =
      "g (float[8, 32] x) => (float[8, 8] y) { t = Transpose <perm = [1, 0]> (x) m = MatMul(x, t) y = Softmax(m) }";
  const tensor::Tensor x = normal({8, 32}, 4);
  EXPECT_EQ(of(text, x).of_elements, of(text, x).of_elements);
}

TEST(Allowances, roundings_in_bodies_and_functions_count) {
  const char* const loop =
      "g (float[64] x) => (float[64] y) <int64 n = {20}, bool yes = {1}> { y = Loop (n, yes, x) <body = b (int64 i, "
      "bool c, float[64] a) => (bool d, float[64] r) { d = Identity(c) s = Sin(a) r = Add(s, a) }> }";
  const compare::Allowance allowance = of(loop, normal({64}, 5));
  EXPECT_GT(allowance.of_elements[0], 1e-8F);
  EXPECT_LT(allowance.of_elements[0], 1e-3F);
}

TEST(Allowances, what_is_drawn_or_depends_on_roundings_in_its_shape_is_unknown) {
  EXPECT_TRUE(
      of("g (float[4] x) => (float[4] y) { r = RandomNormalLike(x) y = Add(r, x) }", normal({4}, 6)).is_unknown);
  const char* const text =
      "g (float[4] x) => (int64[1, n] y) <float two = {2}> { r = Sqrt(x) s = Mul(r, r) d = Sub(s, two) "
      "y = NonZero(d) }";
  EXPECT_TRUE(of(text, floats({4}, {1, 2, 3, 5})).is_unknown);
}

TEST(Allowances, items_of_sequences_have_names_of_their_own) {
  const ir::Model model =
      testing_support::parsed("g (float[4] x) => (seq(float[4]) y) { r = Sin(x) y = SequenceConstruct(r, x) }");
  const Allowances found = allowances(model, {{"x", normal({4}, 7)}}, {"y"}, {});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_GT(found.begin()->second.of_elements[0], 0);
}

}  // namespace
}  // namespace assay::analysis
