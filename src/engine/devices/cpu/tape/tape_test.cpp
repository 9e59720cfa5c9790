#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "engine/devices/cpu/tape/tape_kernels.h"

namespace assay::engine::cpu {
namespace {

// Numbers of all sizes, and those where formulas change over.
std::vector<float> numbers() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> all = {0.0F,   -0.0F,   1.0F,   -1.0F,  0.6F,  -0.6F,  4.0F,      -4.0F,     88.7F,
                            -87.3F, -103.9F, 1e-38F, 1e-45F, 3e38F, -3e38F, kInfinity, -kInfinity};
  std::mt19937 random(1);
  std::uniform_real_distribution<float> near(-6, 6);
  std::uniform_real_distribution<float> far(-100, 100);
  for (int i = 0; i < 3000; ++i) {
    all.push_back(near(random));
    all.push_back(far(random));
    all.push_back(near(random) * 1e-4F);
  }
  while (all.size() % kTapeTile != 0) all.push_back(0.25F);
  return all;
}

// Steps between floats of one result and the exact one.
double distance(float seen, double exact) {
  const auto rounded = static_cast<float>(exact);
  if (std::isnan(seen) || std::isnan(rounded)) return std::isnan(seen) == std::isnan(rounded) ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(seen)) return seen == rounded ? 0 : 1e9;
  const double step = std::max(std::ldexp(1.0, std::ilogb(std::fabs(exact) + 1e-300) - 23), 1.5e-45);
  return std::fabs(static_cast<double>(seen) - exact) / step;
}

struct Expected {
  ElementOp op;
  float p, q;
  double most_steps;
  std::function<double(double)> exact;
};

std::vector<Expected> unary_operators() {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  return {
      {ElementOp::copy, 0, 0, 0, [](double x) { return x; }},
      {ElementOp::cube, 0, 0, 1, [](double x) { return x * x * x; }},
      {ElementOp::relu, 0, 0, 0, [](double x) { return x < 0 ? 0 : x; }},
      {ElementOp::leaky_relu, 0.1F, 0, 1, [](double x) { return x < 0 ? x * double{0.1F} : x; }},
      {ElementOp::scaled_sum, 2.5F, -0.0F, 0.5, [](double x) { return x * 2.5; }},
      {ElementOp::scaled_sum, -1, 3, 0.5, [](double x) { return 3 - x; }},
      {ElementOp::shifted_swish, 3, 6, 3,
       [](double x) { return x * std::clamp(double{static_cast<float>(x) + 3.0F}, 0.0, 6.0) / 6; }},
      {ElementOp::sigmoid, 0, 0, 4, sigmoid},
      {ElementOp::tanh, 0, 0, 4, [](double x) { return std::tanh(x); }},
      {ElementOp::exp, 0, 0, 3, [](double x) { return std::exp(x); }},
      {ElementOp::erf, 0, 0, 4, [](double x) { return std::erf(x); }},
      {ElementOp::negate, 0, 0, 0, [](double x) { return -x; }},
      {ElementOp::abs, 0, 0, 0, [](double x) { return std::fabs(x); }},
      {ElementOp::reciprocal, 0, 0, 1, [](double x) { return 1 / x; }},
      {ElementOp::clip, -0.5F, 2, 0, [](double x) { return std::isnan(x) ? x : std::min(std::max(x, -0.5), 2.0); }},
      {ElementOp::hard_sigmoid, 0.25F, 0.5F, 2, [](double x) { return std::min(std::max(x * 0.25 + 0.5, 0.0), 1.0); }},
      {ElementOp::softsign, 0, 0, 2, [](double x) { return std::isinf(x) ? std::nan("") : x / (1 + std::fabs(x)); }},
      {ElementOp::sqrt, 0, 0, 0.5, [](double x) { return std::sqrt(x); }},
      {ElementOp::floor, 0, 0, 0, [](double x) { return std::floor(x); }},
      {ElementOp::ceil, 0, 0, 0, [](double x) { return std::ceil(x); }},
      {ElementOp::round, 0, 0, 0, [](double x) { return std::nearbyint(x); }},
      {ElementOp::log, 0, 0, 2, [](double x) { return std::log(x); }},
      {ElementOp::softplus, 0, 0, 3, [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }},
      {ElementOp::elu, 0.5F, 0, 4, [](double x) { return x < 0 ? 0.5 * std::expm1(x) : x; }},
      {ElementOp::celu, 0.5F, 0, 4, [](double x) { return x < 0 ? 0.5 * std::expm1(x / 0.5) : x; }},
      {ElementOp::selu, 2, 3, 5, [](double x) { return 3 * (x < 0 ? 2 * std::expm1(x) : x); }},
      {ElementOp::sign, 0, 0, 0, [](double x) { return x > 0   ? 1
                                                       : x < 0 ? -1
                                                               : x; }},
      {ElementOp::thresholded_relu, 0.5F, 0, 0, [](double x) { return x > 0.5 ? x : 0; }},
      {ElementOp::logical_not, 0, 0, 0, [](double x) { return x == 0 ? 1 : 0; }},
      {ElementOp::is_true, 0, 0, 0, [](double x) { return x == 0 ? 0 : 1; }},
      {ElementOp::is_nan, 0, 0, 0, [](double x) { return std::isnan(x) ? 1 : 0; }},
      {ElementOp::is_infinite, 1, 0, 0, [](double x) { return std::isinf(x) && x > 0 ? 1 : 0; }},
      {ElementOp::is_infinite, 0, 1, 0, [](double x) { return std::isinf(x) && x < 0 ? 1 : 0; }}};
}

// Sines of what is a multiple of pi are differences of large numbers.
TEST(TapeKernels, waves_are_near_in_absolute_terms) {
  std::vector<float> in = numbers();
  for (size_t i = 0; i < 200; ++i) in[20 + i] *= 500;
  std::vector<float> out(in.size());
  const std::span<const TapeKernels* const> kernels = all_tape_kernels();
  for (size_t k = 0; k < kernels.size(); ++k) {
    for (const ElementOp op : {ElementOp::sine, ElementOp::cosine}) {
      for (size_t i = 0; i < in.size(); i += kTapeTile)
        kernels[k]->unary(op, {&in[i], 0}, {&out[i], 0, 1, kTapeTile}, 0, 0);
      for (size_t i = 0; i < in.size(); ++i) {
        const double exact = op == ElementOp::sine ? std::sin(double{in[i]}) : std::cos(double{in[i]});
        ASSERT_EQ(std::isnan(out[i]), std::isnan(exact));
        if (std::isnan(exact)) continue;
        ASSERT_NEAR(out[i], exact, 1.5e-7) << kernels[k]->name << " of " << in[i];
      }
    }
  }
}

// What the exponential makes denormal, mish does not make good.
TEST(TapeKernels, mish_is_near_where_it_is_normal) {
  const std::vector<float> in = numbers();
  std::vector<float> out(in.size());
  const std::span<const TapeKernels* const> kernels = all_tape_kernels();
  for (size_t k = 0; k < kernels.size(); ++k) {
    for (size_t i = 0; i < in.size(); i += kTapeTile)
      kernels[k]->unary(ElementOp::mish, {&in[i], 0}, {&out[i], 0, 1, kTapeTile}, 0, 0);
    for (size_t i = 0; i < in.size(); ++i) {
      if (std::isinf(in[i]) && in[i] < 0) continue;
      const double x = in[i];
      const double exact = x * std::tanh(std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))));
      const bool is_near = x > -80 ? distance(out[i], exact) <= 6 : std::fabs(out[i] - exact) < 1e-30;
      ASSERT_TRUE(is_near) << kernels[k]->name << " of " << x << ": " << out[i] << ", exactly " << exact;
    }
  }
}

TEST(TapeKernels, truth_and_choices) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> left = {1, 2, 3, nan, 0, -0.0F, 1, 0, 5, 6, 7, 8, 9, 10, 11, 12};
  const std::vector<float> right = {2, 2, 1, 1, 0, 0, 0, 1, 6, 5, 7, 9, 8, 10, nan, 12};
  const std::pair<ElementOp, std::function<bool(float, float)>> operators[] = {
      {ElementOp::less, [](float a, float b) { return a < b; }},
      {ElementOp::greater, [](float a, float b) { return a > b; }},
      {ElementOp::less_or_equal, [](float a, float b) { return a <= b; }},
      {ElementOp::greater_or_equal, [](float a, float b) { return a >= b; }},
      {ElementOp::equal, [](float a, float b) { return a == b; }},
      {ElementOp::logical_and, [](float a, float b) { return a != 0 && b != 0; }},
      {ElementOp::logical_or, [](float a, float b) { return a != 0 || b != 0; }},
      {ElementOp::logical_xor, [](float a, float b) { return (a != 0) != (b != 0); }}};
  const std::span<const TapeKernels* const> kernels = all_tape_kernels();
  for (size_t k = 0; k < kernels.size(); ++k) {
    std::vector<float> out(left.size());
    for (const auto& [op, exact] : operators) {
      kernels[k]->binary(op, {left.data(), 0}, {right.data(), 0}, {out.data(), 0, 1, left.size()});
      for (size_t i = 0; i < left.size(); ++i) {
        EXPECT_EQ(out[i], exact(left[i], right[i]) ? 1 : 0)
            << kernels[k]->name << " " << static_cast<int>(op) << " " << i;
      }
    }
    const std::vector<float> which = {1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 0};
    kernels[k]->select({which.data(), 0}, {left.data(), 0}, {right.data(), 0}, {out.data(), 0, 1, left.size()});
    for (size_t i = 0; i < left.size(); ++i) {
      const float wanted = which[i] != 0 ? left[i] : right[i];
      EXPECT_TRUE(out[i] == wanted || (std::isnan(out[i]) && std::isnan(wanted))) << i;
    }
  }
}

TEST(TapeKernels, unary_operators_are_near_the_exact_result) {
  const std::vector<float> in = numbers();
  std::vector<float> out(in.size());
  const std::span<const TapeKernels* const> kernels = all_tape_kernels();
  for (size_t k = 0; k < kernels.size(); ++k) {
    for (const Expected& expected : unary_operators()) {
      for (size_t i = 0; i < in.size(); i += kTapeTile) {
        kernels[k]->unary(expected.op, {&in[i], 0}, {&out[i], 0, 1, kTapeTile}, expected.p, expected.q);
      }
      for (size_t i = 0; i < in.size(); ++i) {
        const double exact = expected.exact(in[i]);
        ASSERT_LE(distance(out[i], exact), expected.most_steps + 0.51)
            << kernels[k]->name << " operator " << static_cast<int>(expected.op) << " of " << in[i] << ": " << out[i]
            << ", exactly " << exact;
      }
    }
  }
}

// Near 0 and 1, where gelu is the difference of two numbers, an absolute bound counts.
TEST(TapeKernels, gelu_is_near_in_absolute_terms) {
  const std::vector<float> in = numbers();
  std::vector<float> out(in.size());
  const std::span<const TapeKernels* const> kernels = all_tape_kernels();
  for (size_t k = 0; k < kernels.size(); ++k) {
    for (size_t i = 0; i < in.size(); i += kTapeTile) {
      kernels[k]->unary(ElementOp::gelu, {&in[i], 0}, {&out[i], 0, 1, kTapeTile}, 0, 0);
    }
    std::vector<float> by_tanh(in.size());
    for (size_t i = 0; i < in.size(); i += kTapeTile) {
      kernels[k]->unary(ElementOp::gelu_tanh, {&in[i], 0}, {&by_tanh[i], 0, 1, kTapeTile}, 0, 0);
    }
    for (size_t i = 0; i < in.size(); ++i) {
      const double x = in[i];
      if (std::fabs(x) > 50) continue;
      const double exact = x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
      ASSERT_NEAR(out[i], exact, 4e-7 * std::max(1.0, std::fabs(exact))) << kernels[k]->name << " gelu of " << x;
      const double tanh = x * 0.5 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
      ASSERT_NEAR(by_tanh[i], tanh, 6e-7 * std::max(1.0, std::fabs(tanh))) << kernels[k]->name << " gelu of " << x;
    }
  }
}

// Where it is next to zero, its operand is so large that an absolute bound counts.
TEST(TapeKernels, silu_is_near_in_absolute_terms) {
  const std::vector<float> in = numbers();
  const std::span<const TapeKernels* const> kernels = all_tape_kernels();
  for (size_t k = 0; k < kernels.size(); ++k) {
    std::vector<float> out(in.size());
    for (size_t i = 0; i < in.size(); i += kTapeTile)
      kernels[k]->unary(ElementOp::silu, {&in[i], 0}, {&out[i], 0, 1, kTapeTile}, 0, 0);
    for (size_t i = 0; i < in.size(); ++i) {
      const double x = in[i];
      if (std::isinf(x) && x < 0) continue;  // infinity times zero
      const double exact = x / (1 + std::exp(-x));
      if (std::isinf(x))
        ASSERT_EQ(out[i], exact) << kernels[k]->name;
      else
        ASSERT_NEAR(out[i], exact, 4e-7 * std::max(1.0, std::fabs(exact))) << kernels[k]->name << " silu of " << x;
    }
  }
}

TEST(TapeKernels, binary_operators_keep_nan_and_signs) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> left = {1, -2, nan, 3, -0.0F, 5, 6, 7, 8, nan, 10, 11, 12, 13, 14, 15};
  const std::vector<float> right = {2, -3, 1, nan, 4, 5, -6, 0.5F, 8, nan, -1, 2, 3, 4, 5, 6};
  const std::span<const TapeKernels* const> kernels = all_tape_kernels();
  for (size_t k = 0; k < kernels.size(); ++k) {
    std::vector<float> out(left.size());
    kernels[k]->binary(ElementOp::maximum, {left.data(), 0}, {right.data(), 0}, {out.data(), 0, 1, left.size()});
    for (size_t i = 0; i < left.size(); ++i) {
      const bool has_nan = std::isnan(left[i]) || std::isnan(right[i]);
      EXPECT_EQ(std::isnan(out[i]), has_nan) << kernels[k]->name << " " << i;
      if (has_nan) continue;
      EXPECT_EQ(out[i], std::max(left[i], right[i]));
    }
    kernels[k]->binary(ElementOp::prelu, {left.data(), 0}, {right.data(), 0}, {out.data(), 0, 1, left.size()});
    EXPECT_EQ(out[1], 6.0F);
    EXPECT_EQ(out[0], 1.0F);
  }
}

}  // namespace
}  // namespace assay::engine::cpu
