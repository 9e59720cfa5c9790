#include "engine/devices/cpu/panels/panel_kernels.h"

#include <bit>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "engine/devices/cpu/rows/row_kernels.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;
using testing_support::sine;

std::vector<float> drawn(std::mt19937& random, size_t count) {
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<float> numbers(count);
  for (float& drawn : numbers) drawn = number(random);
  return numbers;
}

TEST(PanelKernels, MultiplyAddsProducts) {
  const std::span<const PanelKernels* const> all = all_panel_kernels();
  std::mt19937 random(1);
  for (size_t kernel = 0; kernel < all.size(); ++kernel) {
    for (size_t rows = 1; rows <= 19; ++rows) {
      const size_t depth = random() % 70;
      const size_t left_row = depth + random() % 5;
      const size_t panel_row = kPanel + random() % 9;
      const std::vector<float> left = drawn(random, rows * left_row + 1);
      const std::vector<float> panel = drawn(random, depth * panel_row + kPanel);
      std::vector<float> out = drawn(random, rows * (kPanel + 1));
      std::vector<double> expected(out.begin(), out.end());
      for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < kPanel; ++c) {
          for (size_t k = 0; k < depth; ++k) {
            expected[r * (kPanel + 1) + c] += double{left[r * left_row + k]} * double{panel[k * panel_row + c]};
          }
        }
      }
      all[kernel]->multiply({.left = left.data(),
                             .left_row = static_cast<int64_t>(left_row),
                             .out = out.data(),
                             .out_row = kPanel + 1,
                             .rows = rows,
                             .depth = depth},
                            panel.data(), static_cast<int64_t>(panel_row));
      EXPECT_EQ(difference({{out.begin(), out.end()}}, {expected}, 1e-5), "") << all[kernel]->name << " " << rows;
    }
  }
}

// The sums have the bits of those with the same numbers in float32.
// Rows and words that fill tiles are multiplied on them, where the processor has any, the others by vectors. Numbers
// have few enough bits that products and sums are exact in any order.
TEST(PanelKernels, PairsAreMultipliedInAllSizes) {
  const PanelProduct multiply = pair_panel_product();
  if (multiply == nullptr) GTEST_SKIP() << "this processor does not multiply bfloat16";
  std::mt19937 random(5);
  const auto number = [](uint16_t half) { return std::bit_cast<float>(uint32_t{half} << 16); };
  const auto draw = [&](size_t count) {
    std::vector<uint16_t> halves(2 * count);
    for (uint16_t& half : halves)
      half = static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(random() % 15) / 8 - 1) >> 16);
    return halves;
  };
  for (const size_t rows : {1, 8, 16, 17, 32, 40, 48, 67}) {
    for (const size_t depth : {1, 15, 16, 17, 32, 50}) {
      for (const bool adds : {false, true}) {
        constexpr size_t kOutRow = kPanel + 1;
        const size_t left_row = depth + random() % 3, panel_row = kPanel + random() % 3;
        const std::vector<uint16_t> left = draw(rows * left_row), panel = draw(depth * panel_row + kPanel);
        std::vector<float> out(rows * kOutRow, 0.5F), expected = out;
        for (size_t r = 0; r < rows; ++r) {
          for (size_t c = 0; c < kPanel; ++c) {
            float& sum = expected[r * kOutRow + c];
            if (!adds) sum = 0;
            for (size_t k = 0; k < 2 * depth; ++k)
              sum += number(left[2 * r * left_row + k]) * number(panel[2 * (k / 2 * panel_row + c) + k % 2]);
          }
        }
        multiply({.left = reinterpret_cast<const float*>(left.data()),
                  .left_row = static_cast<int64_t>(left_row),
                  .out = out.data(),
                  .out_row = kOutRow,
                  .rows = rows,
                  .depth = depth,
                  .adds = adds},
                 reinterpret_cast<const float*>(panel.data()), static_cast<int64_t>(panel_row));
        ASSERT_EQ(out, expected) << rows << " rows of " << depth << ", adds " << adds;
      }
    }
  }
}

TEST(PanelKernels, NumbersOf16BitsAreTheSameInFloat32) {
  std::mt19937 random(4);
  for (const PanelKernels* const kernels : all_panel_kernels()) {
    for (const bool are_bfloat16 : {false, true}) {
      for (size_t rows = 1; rows <= 9; ++rows) {
        const size_t depth = 1 + random() % 70;
        std::vector<uint16_t> halves(depth * kPanel);
        std::vector<float> numbers(halves.size());
        for (uint16_t& half : halves) half = static_cast<uint16_t>(random());
        for (size_t i = 0; i < halves.size(); ++i) {
          if (!are_bfloat16 && (halves[i] & 0x7C00) == 0x7C00) halves[i] = static_cast<uint16_t>(halves[i] & 0x83FF);
          if (are_bfloat16 && (halves[i] & 0x7F80) == 0x7F80) halves[i] = 0x3F80;
        }
        (are_bfloat16 ? row_kernels().widen : row_kernels().widen_half)(halves.data(), numbers.data(), halves.size());
        const std::vector<float> left = drawn(random, rows * depth);
        std::vector<float> out = drawn(random, rows * kPanel);
        std::vector<float> expected = out;
        const auto given = [&](std::vector<float>& sums) {
          return PanelRows{.left = left.data(),
                           .left_row = static_cast<int64_t>(depth),
                           .out = sums.data(),
                           .out_row = kPanel,
                           .rows = rows,
                           .depth = depth};
        };
        kernels->multiply(given(expected), numbers.data(), kPanel);
        kernels->multiply_halves(given(out), halves.data(), are_bfloat16);
        EXPECT_EQ(out, expected) << kernels->name << are_bfloat16 << rows;
      }
    }
  }
}

// Weights of a model, written as text.
std::string weights(std::mt19937& random, size_t count, double unit = 1) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += fmt::format("{}{:.17g}", i == 0 ? "" : ",", unit * (static_cast<int>(random() % 9) - 4));
  }
  return "{" + text + "}";
}

std::string header(const std::string& body) { return "<ir_version: 10, opset_import: [\"\" : 21]> " + body; }

void expect_panels(const std::string& text, const std::function<double(size_t)>& number) {
  const ir::Model model = parsed(header(text));
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_EQ(run.tactics, std::vector<std::string>{"product.panels"}) << text;
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, number), 1e-5), "") << text;
}

TEST(Panels, ProductsOfFewRows) {
  std::mt19937 random(2);
  for (const size_t rows : {1, 2, 3, 7, 8}) {
    for (const auto& [depth, columns] : {std::pair(1, 1), {5, 31}, {64, 32}, {33, 100}, {1, 65}, {200, 3}}) {
      const size_t count = static_cast<size_t>(depth) * static_cast<size_t>(columns);
      expect_panels(
          fmt::format("g (float[{0},{1}] x) => (float[{0},{2}] y) <float[{1},{2}] w = {3}> {{ y = MatMul(x, w) }}",
                      rows, depth, columns, weights(random, count)),
          sine);
      expect_panels(
          fmt::format("g (float[{0},{1}] x) => (float[{0},{2}] y) <float[{2},{1}] w = {3}, float[{2}] b = {4}> "
                      "{{ p = Gemm<transB = 1>(x, w, b) t = Sigmoid(p) y = Mul(t, p) }}",
                      rows, depth, columns, weights(random, count), weights(random, size_t(columns))),
          sine);
    }
  }
}

// The forms of weights that a program has.
std::string forms_of(const ir::Model& given) {
  ir::Model model = given.copy();
  ir::Rewriter rewriter(model);
  lower(model, rewriter);
  const std::unique_ptr<Device> device = make_device({});
  const auto packed = std::make_shared<KeptWeights>();
  const Program program(model, Devices(*device), {.packed = packed});
  std::string forms;
  for (const KeptWeights::Kept& kept : packed->kept()) forms += fmt::format("{}: {} bytes", kept.form, kept.size_bytes);
  return forms;
}

// A single number that 16 bits do not hold makes all of them float32.
TEST(Panels, WeightsTakeWhatTheyNeed) {
  struct Form {
    double unit;
    const char* form;
  };
  constexpr const char* kWords = "panels 40 70 70 1: 15360 bytes";
  std::mt19937 random(5);
  for (const Form& form : {Form{1, "panels 40 70 70 1 bfloat16: 7680 bytes"},
                           {1.00390625, "panels 40 70 70 1 float16: 7680 bytes"},
                           {0x1p-100, "panels 40 70 70 1 bfloat16: 7680 bytes"},
                           {257 * 0x1p-24, "panels 40 70 70 1 float16: 7680 bytes"},  // denormal
                           {0.1, kWords}}) {
    for (const bool is_changed : {false, true}) {
      std::string numbers = weights(random, 40 * 70, form.unit);
      if (is_changed) numbers.replace(1, numbers.find(',') - 1, "0.1");
      const std::string text =
          "g (float[3,40] x) => (float[3,70] y) <float[40,70] w = " + numbers + "> { y = MatMul(x, w) }";
      expect_panels(text, sine);
      EXPECT_EQ(forms_of(parsed(header(text))), is_changed ? kWords : form.form) << form.unit;
    }
  }
}

TEST(Panels, WhatIsNoNumberStaysSo) {
  std::mt19937 random(3);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double special : {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(), 1e-42, 3e38}) {
    const std::string text =
        "g (float[2,2,9] x) => (float[2,2,40] y) <float[9,40] w = " + weights(random, 360) + "> { y = MatMul(x, w) }";
    expect_panels(text, [&](size_t i) { return i == 11 ? special : sine(i); });
  }
}

// The rows of the left operand may lie anywhere, their numbers not.
TEST(Panels, OnlyRowsOfDenseNumbers) {
  const std::string turned =
      "g (float[5,3] x) => (float[3,4] y) <float[5,4] w = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2}> "
      "{ y = Gemm<transA = 1>(x, w) }";
  const ir::Model model = parsed(header(turned));
  const testing_support::EngineRun run = testing_support::run_on_engine(model, sine);
  EXPECT_EQ(run.tactics, std::vector<std::string>{"reference"});
  expect_panels(
      "g (float[4,10] x) => (float[4,4] y) <float[5,4] w = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2}, "
      "int64[1] a = {5}, int64[1] b = {10}, int64[1] c = {1}> { s = Slice(x, a, b, c) y = MatMul(s, w) }",
      sine);
}

}  // namespace
}  // namespace assay::engine::cpu
