#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

void compare(const std::string& text, const std::function<double(size_t)>& number) {
  const ir::Model model = testing_support::parsed("<ir_version: 10, opset_import: [\"\" : 19]> g " + text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_NE(std::ranges::find(run.tactics, "cumulative.columns"), run.tactics.end()) << text;
  EXPECT_EQ(testing_support::difference(run.outputs, testing_support::run_on_reference(model, number), 0), "") << text;
}

TEST(CumSum, OfEveryDimAndTypeBothWays) {
  for (const char* const dims : {"7", "2,5,3", "3,70,65", "1,4,200"}) {
    const auto rank = static_cast<int>(1 + std::ranges::count(std::string_view(dims), ','));
    for (int axis = -rank; axis < rank; ++axis) {
      for (const char* const type : {"float", "int32", "int64"}) {
        for (const char* const more : {"", "<exclusive = 1>", "<reverse = 1>", "<exclusive = 1, reverse = 1>"})
          compare(fmt::format("({0}[{1}] x) => ({0} y) <int64 a = {{{2}}}> {{ y = CumSum{3}(x, a) }}", type, dims, axis,
                              more),
                  [](size_t i) { return std::round(900 * std::sin(1.3 * static_cast<double>(i))); });
      }
    }
  }
}

TEST(CumSum, WhatIsNoNumberAndZerosOfBothSigns) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double special : {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(), -0.0})
    compare("(float[3,9] x) => (float y) <int64 a = {0}> { y = CumSum(x, a) }",
            [&](size_t i) { return i % 4 == 1 ? special : -0.0; });
}

}  // namespace
}  // namespace assay::engine::cpu
