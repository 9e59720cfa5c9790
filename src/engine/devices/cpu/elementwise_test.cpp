#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

// The tactics of a model that gives the reference's numbers.
std::vector<std::string> tactics_of(const std::string& text) {
  const ir::Model model = testing_support::parsed("<ir_version: 10, opset_import: [\"\" : 21]> g " + text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, testing_support::sine);
  const auto expected = testing_support::run_on_reference(model, testing_support::sine);
  EXPECT_EQ(testing_support::difference(run.outputs, expected, 1e-6), "") << text;
  return run.tactics;
}

// Rows and columns of one operand are spread over those of the other.
TEST(Elementwise, DimsOfOneAgainstMany) {
  const std::vector<std::string> tape = {"elementwise.tape"};
  EXPECT_EQ(tactics_of("(float[1,37,24,1] a, float[1,1,24,16] b) => (float[1,37,24,16] y) { y = Mul(a, b) }"), tape);
  EXPECT_EQ(tactics_of("(float[5,7,1] a, float[1,1,19] b) => (float[5,7,19] y) { y = Add(a, b) }"), tape);
  EXPECT_EQ(tactics_of("(float[3,1,1] a, float[1,600] b, float[3,5,1] c) => (float[3,5,600] y) "
                       "{ d = Mul(c, b) y = Sub(d, a) }"),
            tape);
  EXPECT_EQ(tactics_of("(float[9,1] a, float[9,3] b) => (float[9,3] y) { y = Div(a, b) }"), tape);
}

// Parts of rows, and heads whose elements lie together, are not taken for pictures with their channels innermost.
TEST(Elementwise, ResultsOfPartsLieInTheOrderOfTheirDims) {
  const std::vector<std::string> expected = {"elementwise.tape", "cumulative.columns"};
  EXPECT_EQ(tactics_of("(float[1,9,64] x) => (float[1,9,32] y) <int64 axis = {1}> { a, b = Split<axis = -1, "
                       "num_outputs = 2>(x) s = Sigmoid(a) m = Mul(s, b) y = CumSum(m, axis) }"),
            expected);
  EXPECT_EQ(
      tactics_of("(float[2,9,3,4,8] x) => (float[2,4,9,8] y) <int64 axis = {2}, int64 first = {0}> { "
                 "t = Transpose<perm = [2, 0, 3, 1, 4]>(x) g = Gather(t, first) m = Tanh(g) y = CumSum(m, axis) }"),
      expected);
}

// As behind a squeeze and excitation whose values are quantised.
TEST(Elementwise, CodesThatAreSpread) {
  for (const char* const dims : {"2,8,3,5", "1,24,9,7", "3,5,1,1"}) {
    const std::string shape(dims);
    const std::string factors = shape.substr(0, shape.find(',', 2)) + ",1,1";
    const std::vector<std::string> tactics = tactics_of(fmt::format(
        "(float[{}] x, float[{}] f) => (uint8[{}] y) <float s = {{0.02}}, uint8 z = {{128}}, float t = {{0.01}}, "
        "uint8 o = {{120}}, float u = {{0.03}}, uint8 p = {{100}}> {{ a = QuantizeLinear(x, s, z) "
        "b = QuantizeLinear(f, t, o) c = DequantizeLinear(a, s, z) d = DequantizeLinear(b, t, o) e = Mul(c, d) "
        "y = QuantizeLinear(e, u, p) }}",
        shape, factors, shape));
    EXPECT_EQ(std::ranges::count(tactics, "reference"), 0) << dims;
  }
}

}  // namespace
}  // namespace assay::engine::cpu
