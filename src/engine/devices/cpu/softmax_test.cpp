#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "engine/devices/cpu/rows/softmax_columns.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;

double sine(size_t i) { return 9 * std::sin(1.3 * static_cast<double>(i) + 1); }

void compare(const std::string& text, const std::function<double(size_t)>& number = sine, int copies = 0) {
  const ir::Model model = parsed("<ir_version: 10, opset_import: [\"\" : 19]> g " + text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_NE(std::ranges::find(run.tactics, "softmax.rows"), run.tactics.end()) << text;
  EXPECT_EQ(std::ranges::count(run.tactics, "copy"), copies) << text;
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, number), 2e-6), "") << text;
}

TEST(Softmax, OverEveryDim) {
  for (const char* const op : {"Softmax", "LogSoftmax"}) {
    for (const char* const dims : {"2,5,3,4", "1,16,4,84", "3,1,33,1", "2,70,1,300", "1,2,2,17", "1,1,1,1"}) {
      for (int axis = -4; axis < 4; ++axis)
        compare(fmt::format("(float[{}] x) => (float y) {{ y = {}<axis = {}>(x) }}", dims, op, axis));
    }
  }
}

// Rounded once, to numbers of eight bits.
TEST(Softmax, OfBfloat16OverEveryDim) {
  for (const char* const op : {"Softmax", "LogSoftmax"}) {
    for (const char* const dims : {"2,5,3,4", "1,16,4,84", "3,1,33,1", "2,70,1,300"}) {
      for (int axis = 0; axis < 4; ++axis) {
        const ir::Model model =
            parsed(fmt::format("<ir_version: 10, opset_import: [\"\" : 19]> g (bfloat16[{}] x) => (bfloat16 y) {{ y = "
                               "{}<axis = {}>(x) }}",
                               dims, op, axis));
        const testing_support::EngineRun run = testing_support::run_on_engine(model, sine);
        EXPECT_EQ(run.tactics, std::vector<std::string>{"softmax.rows"}) << dims << " " << axis;
        EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, sine), 0x1p-7), "") << dims;
      }
    }
  }
}

TEST(Softmax, OfAScalarIsTheReferences) {
  const ir::Model model =
      parsed("<ir_version: 10, opset_import: [\"\" : 19]> g (float x) => (float y) { y = Softmax<axis = 0>(x) }");
  EXPECT_EQ(difference(testing_support::run_on_engine(model, sine).outputs,
                       testing_support::run_on_reference(model, sine), 0),
            "");
}

// Boxes of detectors: the dim is moved to the front and stays where it lies.
TEST(Softmax, OverDimsThatWereMoved) {
  compare(
      "(float[2,4,16,50] x) => (float y) { t = Transpose<perm = [0, 2, 1, 3]>(x) s = Softmax<axis = 1>(t) "
      "y = Transpose<perm = [0, 2, 1, 3]>(s) }");
}

TEST(Softmax, OfPicturesWithTheirChannelsInnermost) {
  for (const int axis : {1, 2, 3})
    compare(fmt::format("(float[2,6,5,7] x) => (float y) {{ a = MaxPool<kernel_shape = [3, 3]>(x) "
                        "s = Softmax<axis = {}>(a) y = MaxPool<kernel_shape = [2, 2]>(s) }}",
                        axis),
            sine, 2);
}

// Heads that lie innermost, of which a vector holds several rows.
TEST(Softmax, OfFewColumns) {
  for (const char* const op : {"Softmax", "LogSoftmax"}) {
    for (const int columns : {2, 3, 4, 8}) {
      for (const int length : {3, 16, 33, 197})
        compare(fmt::format("(float[2,3,{},{}] x) => (float y) {{ y = {}<axis = 2>(x) }}", length, columns, op));
    }
  }
}

TEST(Softmax, WhatIsNoNumber) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const char* const op : {"Softmax", "LogSoftmax"}) {
    for (const double special : {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
      for (const size_t every : {size_t{3}, size_t{7}, size_t{400}})
        for (const char* const dims : {"2,5,21", "2,53,4"})
          compare(fmt::format("(float[{}] x) => (float y) {{ y = {}<axis = 1>(x) }}", dims, op),
                  [&](size_t i) { return i % every == 2 ? special : sine(i); });
    }
  }
}

TEST(SoftmaxColumns, OfAnyNumberOfColumns) {
  std::mt19937 random(5);
  for (const SoftmaxColumns* const kernels : all_softmax_columns()) {
    for (size_t count = 1; count <= 70; ++count) {
      const size_t row = count + random() % 3, length = 1 + random() % 9;
      std::vector<float> x(length * row), out(length * row, -7);
      for (float& number : x) number = static_cast<float>(random() % 2000) / 100 - 10;
      kernels->run(x.data(), length, row, count, false, out.data());
      for (size_t c = 0; c < row; ++c) {
        double sum = 0;
        for (size_t r = 0; r < length; ++r) sum += std::exp(double{x[r * row + c]});
        for (size_t r = 0; r < length; ++r) {
          const double expected = c < count ? std::exp(double{x[r * row + c]}) / sum : -7;
          EXPECT_NEAR(out[r * row + c], expected, 1e-6) << kernels->name << " " << count;
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
