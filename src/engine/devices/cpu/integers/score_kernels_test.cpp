#include "engine/devices/cpu/integers/score_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace assay::engine::cpu {
namespace {

// Rows of drawn sums, and what the definition makes of them in double arithmetic.
class DrawnScores {
 public:
  DrawnScores(unsigned seed, size_t count)
      : random_(seed), row_((count + kWholeScores - 1) / kWholeScores * kWholeScores) {
    rows.rows = 1 + random_() % 20;
    rows.count = count;
    rows.sums_row = static_cast<int64_t>(row_);
    for (size_t i = 0; i < rows.rows * row_; ++i) {
      sums.push_back(static_cast<int32_t>(random_() % 2001) - 1000);
      masks_.push_back(random_() % 3 == 0 ? -std::numeric_limits<float>::infinity()
                                          : static_cast<float>(random_() % 64) / 16);
      conditions_.push_back(static_cast<uint8_t>(random_() % 2 * (1 + random_() % 200)));
    }
    for (size_t i = 0; i < rows.rows; ++i) more_.push_back(static_cast<int32_t>(random_() % 801) - 400);
    codes.resize(sums.size(), 77);
    totals.resize(rows.rows);
    rows.more = random_() % 3 == 0 ? nullptr : more_.data();
    rows.factor = 0.00517F;  // so that scores do not fall between two codes
    rows.quantum = random_() % 2 == 0 ? 0.0039F : 0.0011F;
    rows.are_signed = random_() % 2 == 0;
    rows.zero = rows.are_signed ? static_cast<int>(random_() % 256) - 128 : static_cast<int>(random_() % 256);
    draw_steps();
    scores_ = sums;
    rows.sums = scores_.data();
    rows.codes = codes.data();
    rows.totals = totals.data();
    rows.steps = steps_.data();
    rows.step_count = steps_.size();
  }

  // Weights of a row in units of the quantum.
  std::vector<double> weights(size_t r) const {
    std::vector<double> numbers;
    for (size_t i = 0; i < rows.count; ++i) numbers.push_back(score(r, i));
    const double greatest = *std::ranges::max_element(numbers);
    double sum = 0;
    for (double& x : numbers) sum += x = std::exp(x - greatest);
    for (double& x : numbers) x /= sum * static_cast<double>(rows.quantum);
    return numbers;
  }

  ScoreRows rows;
  std::vector<int32_t> sums, totals;
  std::vector<uint8_t> codes;

 private:
  void draw_steps() {
    const size_t first = rows.rows > 1 && random_() % 2 == 0 ? row_ : 0;  // the same for all rows, or its own
    for (int i = 0; i < 3; ++i) {
      ScoreStep step{.op = static_cast<ScoreOp>(random_() % 4), .row = static_cast<int64_t>(first)};
      step.added = masks_.data();
      step.conditions = conditions_.data();
      step.hidden_where = random_() % 2 == 0;
      step.number = -3;
      step.factor = step.op == ScoreOp::requantise ? 0.125F : 0.5F;
      step.offset = -1;
      step.unit = 16;
      step.least = -40;
      step.greatest = 60;
      if (random_() % 2 == 0) steps_.push_back(step);
    }
    const bool adds = std::ranges::count(steps_, ScoreOp::add, &ScoreStep::op) > 0;
    if (adds) masks_[0] = masks_[row_ * (rows.rows - 1)] = 0;
    for (size_t r = 0; adds && r < rows.rows; ++r) masks_[r * row_] = 0;  // something is seen
  }

  double score(size_t r, size_t i) const {
    const auto more = static_cast<double>(rows.more == nullptr ? 0 : more_[r]);
    double x = (sums[r * row_ + i] + more) * static_cast<double>(rows.factor);
    for (const ScoreStep& step : steps_) {
      const size_t at = r * static_cast<size_t>(step.row) + i;
      if (step.op == ScoreOp::add) x += static_cast<double>(masks_[at]);
      if (step.op == ScoreOp::choose && (conditions_[at] != 0) == step.hidden_where) x = -3;
      if (step.op == ScoreOp::scale) x /= 2;
      if (step.op == ScoreOp::requantise) x = std::nearbyint(std::clamp(x * 16, -40.0, 60.0)) / 8 - 1;
    }
    return x;
  }

  std::mt19937 random_;
  size_t row_;
  std::vector<int32_t> scores_, more_;
  std::vector<float> masks_;
  std::vector<uint8_t> conditions_;
  std::vector<ScoreStep> steps_;
};

// Another code by one step is correct where a weight is between two, or is changed by a score that is.
void expect_weights(const ScoreKernels& kernels, unsigned seed, size_t count, size_t& others) {
  DrawnScores drawn(seed, count);
  const ScoreRows& rows = drawn.rows;
  kernels.weigh(rows);
  const double least = rows.are_signed ? -128 : 0;
  for (size_t r = 0; r < rows.rows; ++r) {
    const std::vector<double> weights = drawn.weights(r);
    int32_t total = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint8_t byte = drawn.codes[r * static_cast<size_t>(rows.sums_row) + i];
      const int32_t code = rows.are_signed ? static_cast<int8_t>(byte) : byte;
      const double expected = std::clamp(std::nearbyint(weights[i]) + rows.zero, least, least + 255);
      total += code - rows.zero;
      others += code == expected ? 0 : 1;
      ASSERT_NEAR(code, expected, 1) << kernels.name << ", seed " << seed << ", " << i << " of " << count;
    }
    ASSERT_EQ(drawn.totals[r], total) << kernels.name << ", seed " << seed << ", row " << r;
  }
}

TEST(ScoreKernels, AgreeWithTheirDefinition) {
  const std::span<const ScoreKernels* const> kernels = all_score_kernels();
  for (size_t k = 0; k < kernels.size(); ++k) {
    size_t others = 0;
    for (unsigned seed = 0; seed < 400; ++seed) expect_weights(*kernels[k], seed, 1 + seed % 131, others);
    EXPECT_LT(others, 300u) << kernels[k]->name;  // of 260,000
  }
}

// A row of which everything is hidden, or that has a NaN, gives the least codes; its neighbours are as they were.
TEST(ScoreKernels, WhatIsNoNumberIsTheLeastCode) {
  constexpr size_t kCount = 21;
  constexpr size_t kRow = 32;
  const std::span<const ScoreKernels* const> kernels = all_score_kernels();
  std::vector<float> mask(3 * kRow);
  std::fill_n(mask.begin() + kRow, kCount, -std::numeric_limits<float>::infinity());
  mask[2 * kRow + 20] = std::numeric_limits<float>::quiet_NaN();
  const ScoreStep step{.op = ScoreOp::add, .added = mask.data(), .row = kRow};
  for (size_t k = 0; k < kernels.size(); ++k) {
    std::vector<int32_t> sums(3 * kRow, 5);
    std::vector<int32_t> totals(3);
    std::vector<uint8_t> codes(3 * kRow);
    kernels[k]->weigh({.sums = sums.data(),
                       .sums_row = kRow,
                       .rows = 3,
                       .count = kCount,
                       .steps = &step,
                       .step_count = 1,
                       .quantum = 1.0F / 420,
                       .zero = 3,
                       .codes = codes.data(),
                       .totals = totals.data()});
    EXPECT_EQ(totals, (std::vector<int32_t>{20 * 21, -3 * 21, -3 * 21})) << kernels[k]->name;
    EXPECT_EQ(codes[kCount - 1], 23) << kernels[k]->name;
    EXPECT_EQ(codes[kRow + kCount - 1], 0) << kernels[k]->name;
    EXPECT_EQ(codes[2 * kRow], 0) << kernels[k]->name;
  }
}

TEST(ScoreKernels, ShiftAddsToWholeSums) {
  const std::span<const ScoreKernels* const> kernels = all_score_kernels();
  for (size_t k = 0; k < kernels.size(); ++k) {
    std::vector<int32_t> sums(48, -7);
    kernels[k]->shift(sums.data(), 32, 9);
    EXPECT_EQ(std::ranges::count(sums, 2), 32) << kernels[k]->name;
    EXPECT_EQ(sums[32], -7) << kernels[k]->name;
  }
}

}  // namespace
}  // namespace assay::engine::cpu
