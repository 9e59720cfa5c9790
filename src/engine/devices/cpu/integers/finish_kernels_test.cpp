#include "engine/devices/cpu/integers/finish_kernels.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace assay::engine::cpu {
namespace {

// Rows of drawn sums, and what the definition makes of them in double arithmetic.
class Drawn {
 public:
  Drawn(unsigned seed, size_t channels) : random_(seed) {
    rows.channels = channels;
    rows.rows = 1 + random_() % 5;
    rows.sums_row = rows.out_row = static_cast<int64_t>(channels + random_() % 70);
    const size_t size = rows.rows * static_cast<size_t>(rows.out_row) + channels;
    for (size_t i = 0; i < size; ++i) {
      sums_.push_back(static_cast<int32_t>(random_() % 200001) - 100000);
      floats_.push_back(static_cast<float>(static_cast<int>(random_() % 401) - 200) / 8);
      codes_.push_back(static_cast<uint8_t>(random_()));
    }
    for (size_t i = 0; i < (channels + 63) / 64 * 64; ++i) {
      factors_.push_back(static_cast<float>(1 + random_() % 100) / 65536);
      bias_.push_back(static_cast<float>(static_cast<int>(random_() % 401) - 200) / 16);
    }
    add_steps();
    rows.sums = sums_.data();
    rows.factors = factors_.data();
    rows.bias = bias_.data();
    rows.steps = steps_.data();
    rows.step_count = steps_.size();
    rows.type = static_cast<NumberType>(random_() % 3);
    rows.zero =
        rows.type == NumberType::int8 ? static_cast<int>(random_() % 256) - 128 : static_cast<int>(random_() % 256);
    rows.may_overflow = random_() % 2 == 0;
  }

  double expected(size_t row, size_t channel) const {
    const size_t sum = row * static_cast<size_t>(rows.sums_row) + channel;
    const size_t element = row * static_cast<size_t>(rows.out_row) + channel;
    double x = static_cast<double>(sums_[sum]) * factors_[channel] + bias_[channel];
    for (const FinishStep& step : steps_) {
      if (step.op == FinishOp::add) {
        x += added(step, element) * step.factor + step.offset;
        continue;
      }
      if (step.op == FinishOp::requantise) x = std::nearbyint(x);
      x = std::min(std::max(x, double{step.least}), double{step.greatest});
      if (step.op == FinishOp::requantise) x = x * step.factor + step.offset;
    }
    if (rows.type == NumberType::float32) return x;
    const double least = rows.type == NumberType::int8 ? -128 : 0;
    return std::min(std::max(std::nearbyint(x) + rows.zero, least), least + 255);
  }

  FinishRows rows;

 private:
  // Factors are such that no rounding of a float decides about a code.
  void add_steps() {
    if (random_() % 2 == 0)
      steps_.push_back({.op = FinishOp::requantise, .factor = 0.5F, .offset = 2, .least = -90, .greatest = 100});
    if (random_() % 2 == 0) {
      const auto type = static_cast<NumberType>(random_() % 3);
      const void* const from = type == NumberType::float32 ? static_cast<const void*>(floats_.data()) : codes_.data();
      steps_.push_back({.op = FinishOp::add, .type = type, .added = from, .factor = 0.25F, .offset = -3});
    }
    if (random_() % 2 == 0) steps_.push_back({.op = FinishOp::bound, .least = -20, .greatest = 31.5F});
  }

  double added(const FinishStep& step, size_t element) const {
    if (step.type == NumberType::float32) return floats_[element];
    return step.type == NumberType::int8 ? static_cast<int8_t>(codes_[element]) : codes_[element];
  }

  std::mt19937 random_;
  std::vector<int32_t> sums_;
  std::vector<float> floats_, factors_, bias_;
  std::vector<uint8_t> codes_;
  std::vector<FinishStep> steps_;
};

double number_at(NumberType type, const std::byte* out, size_t element) {
  if (type == NumberType::int8) return static_cast<int8_t>(out[element]);
  if (type == NumberType::uint8) return static_cast<uint8_t>(out[element]);
  float number = 0;
  std::memcpy(&number, out + element * sizeof(float), sizeof(float));
  return number;
}

void expect_agreement(const FinishKernels& kernels, unsigned seed, size_t channels) {
  Drawn drawn(seed, channels);
  FinishRows& rows = drawn.rows;
  const size_t bytes = rows.type == NumberType::float32 ? 4 : 1;
  std::vector<std::byte> out(rows.rows * static_cast<size_t>(rows.out_row) * bytes, std::byte{77});
  rows.out = out.data();
  kernels.finish(rows);
  for (size_t r = 0; r < rows.rows; ++r) {
    for (size_t c = 0; c < static_cast<size_t>(rows.out_row); ++c) {
      const size_t element = r * static_cast<size_t>(rows.out_row) + c;
      if (c >= channels) {
        ASSERT_EQ(out[element * bytes], std::byte{77}) << kernels.name << " writes beyond a row of " << channels;
        continue;
      }
      ASSERT_EQ(number_at(rows.type, out.data(), element), drawn.expected(r, c))
          << kernels.name << ", seed " << seed << ", channel " << c << " of " << channels;
    }
  }
}

TEST(FinishKernels, AgreeWithTheirDefinition) {
  const std::span<const FinishKernels* const> kernels = all_finish_kernels();
  for (size_t k = 0; k < kernels.size(); ++k) {
    for (unsigned seed = 0; seed < 300; ++seed) expect_agreement(*kernels[k], seed, 1 + seed % 131);
  }
}

TEST(FinishKernels, Gelu) {
  const std::span<const FinishKernels* const> kernels = all_finish_kernels();
  constexpr size_t kCount = 4096;
  std::vector<int32_t> sums(kCount);
  for (size_t i = 0; i < kCount; ++i) sums[i] = static_cast<int32_t>(i) - 2048;
  const std::vector<float> factors(kCount, 1.0F / 128);
  const std::vector<float> bias(kCount);
  const FinishStep step{.op = FinishOp::gelu, .factor = 0.5F};
  for (size_t k = 0; k < kernels.size(); ++k) {
    std::vector<float> out(kCount);
    kernels[k]->finish({.sums = sums.data(),
                        .channels = kCount,
                        .factors = factors.data(),
                        .bias = bias.data(),
                        .steps = &step,
                        .step_count = 1,
                        .out = out.data()});
    for (size_t i = 0; i < kCount; ++i) {
      const double x = sums[i] / 128.0;
      const double expected = x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
      ASSERT_NEAR(out[i] * 2.0, expected, 4e-5 + 2e-5 * std::fabs(expected)) << kernels[k]->name << " of " << x;
    }
  }
}

// A bound of 32 bits is not where codes end.
TEST(FinishKernels, HugeNumbersAreTheLastCodes) {
  const std::span<const FinishKernels* const> kernels = all_finish_kernels();
  const std::vector<int32_t> sums = {2147483647, -2147483647 - 1, 1, 0};
  const std::vector<float> factors(64, 1e6F);
  const std::vector<float> bias(64);
  for (size_t k = 0; k < kernels.size(); ++k) {
    std::vector<uint8_t> out(4);
    kernels[k]->finish({.sums = sums.data(),
                        .channels = 4,
                        .factors = factors.data(),
                        .bias = bias.data(),
                        .type = NumberType::uint8,
                        .zero = 3,
                        .out = out.data()});
    EXPECT_EQ(out, (std::vector<uint8_t>{255, 0, 255, 3})) << kernels[k]->name;
  }
}

}  // namespace
}  // namespace assay::engine::cpu
