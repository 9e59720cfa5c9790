#include "engine/devices/cpu/panels/digits.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace assay::engine::cpu {
namespace {

// A panel of drawn codes, and what they stand for without scales.
struct Drawn {
  CodePanel panel;
  std::vector<std::byte> bytes;
  std::vector<double> weights;  // row by row
  std::vector<float> scales;    // of blocks

  Drawn(std::mt19937& random, size_t depth, size_t block, PanelForm form) {
    panel = {.block = block, .form = form, .zero = form.are_nibbles ? 8.0F : 0.0F};
    for (size_t k = 0; k < depth; k += block) append(random, std::min(block, depth - k));
    panel.blocks = bytes.data();
  }

  // In place of those that were drawn, of one block.
  void set_codes(uint32_t word, int stands_for) {
    auto* const words = reinterpret_cast<uint32_t*>(bytes.data() + panel.form.number_bytes());
    std::fill_n(words, panel.code_bytes(panel.block) / sizeof(word), word);
    for (size_t i = 0; i < weights.size(); ++i) {
      weights[i] = (stands_for - double{panel.zero}) * double{scales[i % kPanel]};
    }
  }

 private:
  void append(std::mt19937& random, size_t rows) {
    const size_t start = bytes.size();
    bytes.resize(start + panel.form.number_bytes() + panel.code_bytes(rows));
    auto* const zero_numbers = reinterpret_cast<float*>(bytes.data() + start + panel.form.scale_bytes());
    auto* const words = reinterpret_cast<uint32_t*>(bytes.data() + start + panel.form.number_bytes());
    std::vector<float> zeros(kPanel, panel.zero);
    for (size_t c = 0; c < kPanel; ++c) {
      scales.push_back(draw_scale(random, bytes.data() + start, c));
      if (panel.form.has_zeros) zero_numbers[c] = zeros[c] = static_cast<float>(random() % 16);
    }
    const size_t bits = panel.form.are_nibbles ? 4 : 8;
    for (size_t k = 0; k < rows; ++k) {
      for (size_t c = 0; c < kPanel; ++c) {
        const auto code = static_cast<int>(random() & ((1U << bits) - 1));
        words[k / panel.rows_of_word() * kPanel + c] |= static_cast<uint32_t>(code)
                                                        << (k % panel.rows_of_word() * bits);
        const int stands_for = panel.form.are_nibbles || code < 128 ? code : code - 256;
        weights.push_back((double{static_cast<float>(stands_for)} - double{zeros[c]}) *
                          double{scales[scales.size() - kPanel + c]});
      }
    }
  }

  float draw_scale(std::mt19937& random, std::byte* numbers, size_t c) const {
    if (!panel.form.are_scales_halves) {
      return reinterpret_cast<float*>(numbers)[c] = 0.01F + static_cast<float>(random() % 100) * 1e-4F;
    }
    const uint32_t fraction = random() % 1024, sign = random() % 2;
    reinterpret_cast<uint16_t*>(numbers)[c] = static_cast<uint16_t>(sign << 15 | 8 << 10 | fraction);
    return std::ldexp(sign == 0 ? 1.0F : -1.0F, -7) * (1 + static_cast<float>(fraction) / 1024);
  }
};

void expect_products(const DigitKernels& kernels, std::mt19937& random, size_t rows, const Drawn& drawn,
                     const std::vector<float>& left) {
  const size_t depth = left.size() / rows;
  const size_t row_runs = digit_runs(depth, drawn.panel.block);
  std::vector<DigitRun> runs(rows * row_runs);
  for (size_t r = 0; r < rows; ++r) {
    ASSERT_TRUE(kernels.split_row(left.data() + r * depth, depth, drawn.panel, runs.data() + r * row_runs));
  }
  std::vector<float> out(rows * kPanel);
  for (float& number : out) number = static_cast<float>(random() % 10);
  const std::vector<float> before = out;
  const double rounding = std::ldexp(static_cast<double>(row_runs) + 4, -24);  // of sums of runs, and in each
  kernels.multiply(runs.data(), {.out = out.data(), .out_row = kPanel, .rows = rows, .depth = depth}, drawn.panel);
  for (size_t i = 0; i < out.size(); ++i) {
    double expected = double{before[i]}, magnitude = expected;
    for (size_t k = 0; k < depth; ++k) {
      const double product = double{left[i / kPanel * depth + k]} * drawn.weights[k * kPanel + i % kPanel];
      expected += product;
      magnitude += std::abs(product);
    }
    ASSERT_NEAR(double{out[i]}, expected, rounding * magnitude + 1e-36)
        << "row " << i / kPanel << " column " << i % kPanel << " of " << rows << " x " << depth;
  }
}

class Digits : public testing::Test {
 protected:
  void SetUp() override {
    kernels_ = all_digit_kernels();
    if (kernels_.empty()) GTEST_SKIP() << "needs a processor with AVX2";
  }
  std::span<const DigitKernels* const> kernels_;
  std::mt19937 random_{1};
};

TEST_F(Digits, ProductsOfAnyFormAreThoseOfFloats) {
  std::normal_distribution<float> number;
  for (const size_t block : {1, 5, 16, 32, 40, 128, 1000}) {
    for (const size_t depth : {1, 7, 8, 31, 64, 100, 259}) {
      for (unsigned form = 0; form < 8; ++form) {
        const size_t rows = 1 + random_() % 4;
        const Drawn drawn(random_, depth, block, {(form & 1) != 0, (form & 2) != 0, (form & 4) != 0});
        std::vector<float> left(rows * depth);
        for (float& drawn_number : left) drawn_number = number(random_);
        for (const DigitKernels* const kernels : kernels_) expect_products(*kernels, random_, rows, drawn, left);
      }
    }
  }
}

// As in the activations of language models. The large number's weights are zero.
TEST_F(Digits, ALargeNumberTakesLittleFromOthers) {
  std::normal_distribution<float> number;
  Drawn drawn(random_, 32, 32, {true, false});
  auto* const words = reinterpret_cast<uint32_t*>(drawn.bytes.data() + drawn.panel.form.number_bytes());
  for (size_t c = 0; c < kPanel; ++c) words[c] = (words[c] & ~15U) | 8;
  std::fill_n(drawn.weights.begin(), kPanel, 0);
  for (const float large : {30.0F, 100.0F}) {
    std::vector<float> left(32);
    for (float& drawn_number : left) drawn_number = number(random_);
    left[0] = large;
    for (const DigitKernels* const kernels : kernels_) expect_products(*kernels, random_, 1, drawn, left);
  }
}

TEST_F(Digits, NumbersThatLieTooFarApartHaveNone) {
  const CodePanel panel{.block = 40};
  DigitRun runs[2];
  for (const DigitKernels* const kernels : kernels_) {
    std::vector<float> row(40, 1.0F);
    row[3] = 4000.0F;
    EXPECT_TRUE(kernels->split_row(row.data(), row.size(), panel, runs));
    row[3] = 5000.0F;
    EXPECT_FALSE(kernels->split_row(row.data(), row.size(), panel, runs));
    for (size_t i = 0; i < 32; ++i) row[i] = i == 3 ? 5000.0F : 0.0F;
    EXPECT_TRUE(kernels->split_row(row.data(), row.size(), panel, runs)) << "zeros are never lost";
  }
}

TEST_F(Digits, SmallestAndGreatestNumbers) {
  for (const float number : {1e-45F, 1e-38F, 3e-30F, 1e30F, 3e34F}) {
    const Drawn drawn(random_, 64, 32, {false, true});
    for (const DigitKernels* const kernels : kernels_) {
      expect_products(*kernels, random_, 2, drawn, std::vector<float>(128, number));
    }
  }
}

// What digits and codes are at most, so that their sums are.
TEST_F(Digits, GreatestDigitsTimesGreatestCodes) {
  for (const float number : {std::ldexp(0x1.FFFCp29F, -30), std::ldexp(0x1.FBFBFCp29F, -30), 1 - 0x1p-24F}) {
    for (const float sign : {-1.0F, 1.0F}) {
      for (const bool are_nibbles : {false, true}) {
        Drawn drawn(random_, 64, 64, {are_nibbles, false});
        drawn.set_codes(are_nibbles ? 0xFFFFFFFF : 0x80808080, are_nibbles ? 15 : -128);
        for (const DigitKernels* const kernels : kernels_) {
          expect_products(*kernels, random_, 2, drawn, std::vector<float>(128, sign * number));
        }
      }
    }
  }
}

TEST_F(Digits, WhatIsNoNumberHasNone) {
  const CodePanel panel{.block = 32, .form = {.are_nibbles = true}};
  for (const DigitKernels* const kernels : kernels_) {
    for (const float number : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN()}) {
      std::vector<float> row(70, 1.0F);
      DigitRun runs[3];
      EXPECT_TRUE(kernels->split_row(row.data(), row.size(), panel, runs));
      row[69] = number;
      EXPECT_FALSE(kernels->split_row(row.data(), row.size(), panel, runs));
    }
  }
}

TEST(DigitRuns, BeginWithBlocks) {
  EXPECT_EQ(digit_runs(768, 32), 24U);
  EXPECT_EQ(digit_runs(768, 768), 24U);
  EXPECT_EQ(digit_runs(70, 33), 5U);
  EXPECT_EQ(digit_runs(3, 1), 3U);
}

}  // namespace
}  // namespace assay::engine::cpu
