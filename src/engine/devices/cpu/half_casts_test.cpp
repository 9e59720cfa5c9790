#include <bit>
#include <random>

#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;

void expect_alike(const std::string& text, const std::string& tactic, const std::function<double(size_t)>& number,
                  double tolerance) {
  const ir::Model model = parsed("<ir_version: 8, opset_import: [\"\" : 17]> g " + text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_NE(std::ranges::find(run.tactics, tactic), run.tactics.end()) << text;
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, number), tolerance), "") << text;
}

// Of all sizes: numbers between float16's, far beyond them, and none at all.
TEST(HalfCasts, RoundAsTheReference) {
  std::mt19937 random(3);
  std::vector<double> numbers(70001);
  for (double& number : numbers) {
    const auto exponent = static_cast<int>(random() % 48) - 30;
    number = std::ldexp(static_cast<double>(random() % 8192) - 4096, exponent - 12);
  }
  numbers[0] = std::numeric_limits<double>::infinity();
  numbers[1] = std::numeric_limits<double>::quiet_NaN();
  numbers[2] = 65519.996;  // rounds to the largest number
  numbers[3] = 65520;      // and to infinity
  const auto number = [&](size_t i) { return numbers[i]; };
  expect_alike("(float[70001] x) => (float16[70001] y) { y = Cast<to = 10>(x) }", "elementwise.tape", number, 0);
  expect_alike("(float16[70001] x) => (float[70001] y) { y = Cast<to = 1>(x) }", "elementwise.tape", number, 0);
  expect_alike("(float16[3] x) => (float[3] y) { y = Cast<to = 1>(x) }", "elementwise.tape", number, 0);
}

TEST(HalfCasts, ProductsOfFloat16) {
  const auto sine = [](size_t i) { return std::sin(1.7 * static_cast<double>(i) + 1); };
  constexpr double kUlp = 0x1p-10;
  expect_alike("(float16[5,7] x, float16[7,9] w) => (float16[5,9] y) { y = MatMul(x, w) }", "elementwise.tape", sine,
               kUlp);
  expect_alike("(float16[5,7] x, float16[9,7] w, float16[9] b) => (float16[5,9] y) { y = Gemm<transB = 1>(x, w, b) }",
               "elementwise.tape", sine, kUlp);
  expect_alike("(float16[2,3,5,7] x, float16[4,3,3,3] w) => (float16[2,4,5,7] y) { y = Conv<pads = [1,1,1,1]>(x, w) }",
               "elementwise.tape", sine, kUlp);
}

}  // namespace
}  // namespace assay::engine::cpu
