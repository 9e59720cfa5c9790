// Floats that are rounded to float8 and read again, in one chain.
#include <random>

#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;

constexpr size_t kCount = 70001;

// Of all sizes: numbers between those of 8 bits and halfway, far beyond them, without a number, and zeros.
std::vector<double> all_sizes() {
  std::mt19937 random(5);
  std::vector<double> numbers(kCount);
  for (double& number : numbers) {
    const auto exponent = static_cast<int>(random() % 40) - 22;
    number = std::ldexp(static_cast<double>(random() % 64) - 32, exponent - 4);
  }
  const std::array special = {std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN(),
                              -0.0,
                              448.0,
                              464.0,
                              465.0,
                              -1e30,
                              57344.0,
                              61440.0,
                              61441.0,
                              0x1p-10,
                              0x1p-9,
                              0x1p-17,
                              -0x1.8p-9,
                              1e-40};
  std::ranges::copy(special, numbers.begin());
  return numbers;
}

void expect_alike(const std::string& text) {
  static const std::vector<double> numbers = all_sizes();
  const auto number = [&](size_t i) { return numbers[i % kCount]; };
  const ir::Model model = parsed("<ir_version: 11, opset_import: [\"\" : 24]> g " + text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_EQ(run.tactics, std::vector<std::string>{"elementwise.tape"}) << text;
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, number), 0), "") << text;
}

TEST(Float8, IsRoundedAsByTheReference) {
  for (const int type : {17, 19}) {
    for (const char* const floats : {"float", "float16", "bfloat16"}) {
      expect_alike(
          fmt::format("({0}[{1}] x) => ({0}[{1}] y) <{0} s = {{0.37}}, {0} t = {{0.25}}> {{ "
                      "q = QuantizeLinear<output_dtype = {2}>(x, s) y = DequantizeLinear(q, t) }}",
                      floats, kCount, type));
    }
    expect_alike(
        fmt::format("(float[{0}] x) => (float[{0}] y) {{ q = Cast<to = {1}>(x) y = Cast<to = 1>(q) }}", kCount, type));
  }
}

// Zeros have the sign of what was rounded to them.
TEST(Float8, ZerosKeepTheirSigns) {
  expect_alike(
      fmt::format("(float[{0}] x) => (float[{0}] y) {{ q = Cast<to = 17>(x) w = Cast<to = 1>(q) "
                  "y = Reciprocal(w) }}",
                  kCount));
}

// What others see is made by the reference.
TEST(Float8, ThatIsSeenStaysFloat8) {
  const ir::Model model = parsed(
      "<ir_version: 11, opset_import: [\"\" : 24]> g (float[40] x) => (float[40] y, float8e4m3fn[40] q) <float s = "
      "{0.5}> { "
      "q = QuantizeLinear<output_dtype = 17>(x, s) y = DequantizeLinear(q, s) }");
  const testing_support::EngineRun run = testing_support::run_on_engine(model, testing_support::sine);
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, testing_support::sine), 0), "");
}

}  // namespace
}  // namespace assay::engine::cpu
