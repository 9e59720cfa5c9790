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

TEST(Allowances, what_need_not_be_sorted_stands_in_any_order) {
  const char* const text =
      "g (float[4] x) => (float[2] v, int64[2] i) <int64[1] k = {2}> { v, i = TopK <sorted = 0> (x, k) }";
  const tensor::Tensor x = floats({4}, {1, 8, 3, 4});
  EXPECT_EQ(of(text, x, "i").of_elements, std::vector<float>(2, std::numeric_limits<float>::infinity()));
  for (const float allowed : of(text, x, "v").of_elements) EXPECT_GT(allowed, 4);
  // Their sum is the same in any order.
  const char* const sum =
      "g (float[4] x) => (float[1] y) <int64[1] k = {2}> { v, i = TopK <sorted = 0> (x, k) y = ReduceSum(v) }";
  EXPECT_LT(of(sum, x).of_elements[0], 1e-4F);
}

TEST(Allowances, steps_of_a_range_may_be_added_up) {
  const char* const text = "g (float s, float l, float x) => (float[n] y) { y = Range(s, l, x) }";
  const auto allowed = [&](float step) {
    const ir::Model model = testing_support::parsed(text);
    const tensor::NamedData feeds{{"s", floats({}, {0})}, {"l", floats({}, {1000 * step})}, {"x", floats({}, {step})}};
    return allowances(model, feeds, {"y"}, {}).at("y").of_elements.back();
  };
  EXPECT_GT(allowed(0.1F), 100 * 0.1F * 1000 * 0x1p-24F);  // a thousand steps, each rounded
  EXPECT_LT(allowed(0.1F), 1e-1F);
  EXPECT_LT(allowed(0.5F), 1e-3F);  // all are exact
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

TEST(Allowances, float64_is_judged_in_its_own_roundings) {
  const ir::Model model = testing_support::parsed("g (double[64] x) => (double[64] y) { e = Exp(x) y = Sigmoid(e) }");
  std::vector<double> values(64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
  const tensor::Tensor x = tensor::make_tensor<double>(tensor::DType::float64, {64}, values);
  const compare::Allowance allowance = allowances(model, {{"x", x}}, {"y"}, {}).at("y");
  for (const float allowed : allowance.of_elements) {
    EXPECT_GT(allowed, 5e-16F);
    EXPECT_LT(allowed, 5e-14F);
  }
}

// A mean that cancels: single float32 sums, in either order, are off by roundings of the terms.
TEST(Allowances, short_sums_are_off_by_roundings_of_their_terms) {
  const char* const text =
      "g (float[1, 4] x) => (float[1] y) <int64[1] axes = {1}> { y = ReduceMean <keepdims = 0> (x, axes) }";
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const tensor::Tensor x = normal({1, 4}, seed);
    const std::span<const float> terms(reinterpret_cast<const float*>(x.bytes().data()), 4);
    const float forwards = (((terms[0] + terms[1]) + terms[2]) + terms[3]) / 4;
    const float backwards = (((terms[3] + terms[2]) + terms[1]) + terms[0]) / 4;
    EXPECT_LE(std::fabs(forwards - backwards), of(text, x).of_elements[0]) << seed;
  }
}

// Equal terms are rounded in one direction: the sum drifts, and its exact result has no rounding at all.
TEST(Allowances, sums_that_drift_are_followed) {
  const tensor::Tensor x = floats({1, 20000}, std::vector<float>(20000, 0.1F));
  const char* const text =
      "g (float[1, 20000] x) => (float[1] y) <int64[1] axes = {1}> { y = ReduceMean <keepdims = 0> (x, axes) }";
  float sum = 0;
  for (int i = 0; i < 20000; ++i) sum += 0.1F;
  const float drift = std::fabs(sum / 20000 - 0.1F);
  EXPECT_GT(drift, 1e-6F);
  EXPECT_GT(of(text, x).of_elements[0], drift);
  EXPECT_LT(of(text, x).of_elements[0], 10 * drift);
}

// 8 log(2) / log(16) is 2 in float32, and a little less beside the logarithm of 16 as it is stored.
TEST(Allowances, exact_edges_may_fall_to_either_side) {
  const compare::Allowance allowance =
      of("g (float[2] x) => (int64[2] y) <float base = {2.7725887}, float eight = {8}> "
         "{ l = Log(x) d = Div(l, base) m = Mul(d, eight) y = Cast <to = 7> (m) }",
         floats({2}, {2, 3}));
  EXPECT_GT(allowance.of_elements[0], 0);
  EXPECT_EQ(allowance.of_elements[1], 0);
}

// Enlarged by three with floor, one place of three lies on a pixel's edge: there alone the pixel beside is correct.
TEST(Allowances, nearest_pixels_may_be_the_two_of_their_place) {
  const ir::Model model = testing_support::parsed(
      "g (float[1, 1, 1, 4] x) => (float[1, 1, 1, 12] y) <int64[4] sizes = {1, 1, 1, 12}> { y = Resize <mode = "
      "\"nearest\", nearest_mode = \"floor\", coordinate_transformation_mode = \"half_pixel\"> (x, , , sizes) }");
  const tensor::Tensor x = floats({1, 1, 1, 4}, {10, 200, 30, 90});
  const std::vector<float> allowed = allowances(model, {{"x", x}}, {"y"}, {}).at("y").of_elements;
  for (size_t i = 0; i < allowed.size(); ++i) EXPECT_LE(allowed[i], i % 3 == 1 ? 200 : 1e-3F) << i;
}

TEST(Allowances, updates_that_add_up_are_rounded) {
  const char* const text =
      "g (float[8] x) => (float[2] y) <float[2] start = {0, 0}, int64[8] at = {0, 0, 0, 0, 0, 0, 0, 1}> "
      "{ y = ScatterElements <reduction = \"add\"> (start, at, x) }";
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const tensor::Tensor x = normal({8}, seed);
    const std::span<const float> terms(reinterpret_cast<const float*>(x.bytes().data()), 7);
    float forwards = 0, backwards = 0;
    for (size_t i = 0; i < 7; ++i) {
      forwards += terms[i];
      backwards += terms[6 - i];
    }
    EXPECT_LE(std::fabs(forwards - backwards), of(text, x).of_elements[0]) << seed;
  }
}

TEST(Allowances, few_elements_behind_a_quantizer_have_no_exception) {
  const compare::Allowance allowance =
      of("g (float[64, 16] x) => (float[64, 16] y) <float scale = {0.02}, uint8 zero = {128}> { q = QuantizeLinear(x, "
         "scale, zero) y = DequantizeLinear(q, scale, zero) }",
         normal({64, 16}, 10));
  EXPECT_EQ(allowance.may_be_beyond, 0U);
}

TEST(Allowances, of_one_run_are_early_and_about_those_of_all) {
  const ir::Model model = testing_support::parsed(
      "g (float[16, 64] x, float[64, 64] w) => (float[16, 64] y) { p = MatMul(x, w) y = Tanh(p) }");
  const tensor::NamedData feeds = {{"x", normal({16, 64}, 11)}, {"w", normal({64, 64}, 12)}};
  const compare::Allowance all = allowances(model, feeds, {"y"}, {}).at("y");
  const compare::Allowance early = allowances(model, feeds, {"y"}, {.runs = 1}).at("y");
  EXPECT_FALSE(all.is_early);
  EXPECT_TRUE(early.is_early);
  double sum = 0, early_sum = 0;
  for (size_t i = 0; i < all.of_elements.size(); ++i) {
    sum += static_cast<double>(all.of_elements[i]);
    early_sum += static_cast<double>(early.of_elements[i]);
  }
  EXPECT_GT(early_sum, 0.4 * sum);
  EXPECT_LT(early_sum, sum);
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
