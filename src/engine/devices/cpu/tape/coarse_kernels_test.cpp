#include "engine/devices/cpu/tape/coarse_kernels.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace assay::engine::cpu {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

std::vector<float> sampled_numbers() {
  std::vector<float> all = {0.0F,  -0.0F, 1.0F,   -1.0F, 0.6F,    -0.6F,  0.599999F, 88.7F,
                            -5.0F, 5.0F,  1e-38F, 3e38F, -126.5F, 126.5F, kInfinite, std::nanf("")};
  std::mt19937 random(1);
  for (const float range : {0.01F, 1.0F, 5.0F, 20.0F, 80.0F}) {
    std::uniform_real_distribution<float> numbers(-range, range);
    for (int i = 0; i < 1600; ++i) all.push_back(numbers(random));
  }
  return all;
}

struct Function {
  ElementOp op;
  std::function<double(double)> exact;
  double least = -std::numeric_limits<double>::infinity();  // below it, results are near in absolute terms
};

std::vector<Function> functions() {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double turn = std::sqrt(2 / std::numbers::pi);
  const auto gelu_by_tanh = [=](double x) { return x * sigmoid(2 * turn * (x + 0.044715 * x * x * x)); };
  return {{ElementOp::sigmoid, sigmoid},
          {ElementOp::silu, [=](double x) { return x * sigmoid(x); }},
          {ElementOp::tanh, [](double x) { return std::tanh(x); }},
          {ElementOp::gelu, [](double x) { return x * 0.5 * std::erfc(-x / std::numbers::sqrt2); }, -5},
          {ElementOp::gelu_tanh, gelu_by_tanh}};
}

float widened(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// Off by this share of it, or by so little that a float has no normal number for it.
void expect_near(float seen, const Function& function, float x, double share, const char* kernels) {
  const double exact = function.exact(x);
  ASSERT_EQ(std::isnan(seen), std::isnan(exact)) << kernels << " of " << x;
  if (std::isnan(exact) || seen == exact) return;
  const double most = x < function.least ? 2e-5 : share * std::fabs(exact) + 1.2e-38;
  ASSERT_NEAR(seen, exact, most) << kernels << " operator " << static_cast<int>(function.op) << " of " << x;
}

TEST(CoarseKernels, floats_are_near_the_exact_result) {
  const std::vector<float> in = sampled_numbers();
  const std::span<const CoarseKernels* const> kernels = all_coarse_kernels();
  for (size_t k = 0; k < kernels.size(); ++k) {
    for (const Function& function : functions()) {
      std::vector<float> out(in.size());
      kernels[k]->to_floats(function.op, {in.data(), 0}, {out.data(), 0, 1, in.size()});
      for (size_t i = 0; i < in.size(); ++i) expect_near(out[i], function, in[i], 0x1p-12, kernels[k]->name);
    }
  }
}

// Rows of 32 numbers, in the target with others between them.
TEST(CoarseKernels, bfloat16_is_rounded_once_more) {
  constexpr size_t kColumns = 32, kPitch = 40;
  const std::vector<float> in = sampled_numbers();
  const size_t rows = in.size() / kColumns;
  const std::span<const CoarseKernels* const> kernels = all_coarse_kernels();
  for (size_t k = 0; k < kernels.size(); ++k) {
    for (const Function& function : functions()) {
      std::vector<uint16_t> out(rows * kPitch, 7);
      kernels[k]->to_bfloat16(function.op, {in.data(), kColumns}, {out.data(), kPitch, rows, kColumns});
      for (size_t i = 0; i < rows * kPitch; ++i) {
        const size_t column = i % kPitch;
        if (column >= kColumns)
          ASSERT_EQ(out[i], 7);
        else
          expect_near(widened(out[i]), function, in[i / kPitch * kColumns + column], 0x1p-8 + 0x1p-12,
                      kernels[k]->name);
      }
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
