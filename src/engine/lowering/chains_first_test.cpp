#include "engine/lowering/chains_first.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

double part(size_t i) { return static_cast<double>(i % 7) / 4 - 0.75; }

// The steps that a model of a picture, or its product by three rows, takes.
size_t steps_of(const std::string& body, const std::string& outputs = "float y") {
  const ir::Model model = testing_support::parsed(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1,3,4,4] x) => ({}) <float[2,3,1,1] w = {{1,-2,3,4,-5,6}}, "
      "float[4,3] m = {{1,2,3,4,5,6,7,8,9,10,11,-12}}, int64[3] rows = {{1,2,16}}, float two = {{2}}, float[1] one = "
      "{{1}}, float[16] each = {{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}}, float[1,1,1,1,1] deep = {{3}}> {{ {} }}",
      outputs, body));
  ir::Model changed = model.copy();
  ir::Rewriter rewriter(changed);
  chains_first(changed, rewriter);
  const auto expected = testing_support::run_on_reference(model, part);
  EXPECT_EQ(testing_support::difference(testing_support::run_on_reference(changed, part), expected, 0), "") << body;
  EXPECT_EQ(testing_support::difference(testing_support::run_on_engine(model, part).outputs, expected, 1e-6), "")
      << body;
  return rewriter.steps().size();
}

TEST(ChainsFirst, OfWhatProductsGive) {
  EXPECT_EQ(steps_of("c = Conv(x, w) r = Reshape(c, rows) t = Transpose<perm = [0, 2, 1]>(r) y = Sigmoid(t)"), 1u);
  EXPECT_EQ(
      steps_of("c = MatMul(x, m) t = Transpose<perm = [0, 2, 1, 3]>(c) d = Div(t, two) e = Erf(d) a = Add(e, one) "
               "b = Mul(t, a) y = Mul(b, two)"),
      1u);
  EXPECT_EQ(steps_of("c = Conv(x, w) r = Reshape(c, rows) f = Relu(r) t = Transpose<perm = [0, 2, 1]>(f) y = Tanh(t)"),
            1u);
}

TEST(ChainsFirst, OfPartsThatAreJoined) {
  const std::string parts = "a = Conv(x, w) b = Conv(x, w) ";
  EXPECT_EQ(steps_of(parts + "c = Concat<axis = 1>(a, b) s = Sigmoid(c) y = Mul(c, s)"), 1u);
  EXPECT_EQ(steps_of(parts + "c = Concat<axis = 2>(a, b) y = Relu(c)"), 1u);
  EXPECT_EQ(steps_of(parts + "c = Concat<axis = 1>(a, b) y = Relu(c) z = Neg(a)", "float y, float z"), 0u);
  EXPECT_EQ(steps_of(parts + "c = Concat<axis = 1>(a, b, x) y = Relu(c)"), 0u);
  EXPECT_EQ(steps_of(parts + "c = Concat<axis = 1>(a, b) y = Mul(c, two)"), 0u);
}

TEST(ChainsFirst, LeavesOthersAlone) {
  const std::string moved = "c = Conv(x, w) r = Reshape(c, rows) ";
  EXPECT_EQ(steps_of(moved + "y = Mul(r, two)"), 0u);  // attention takes it
  EXPECT_EQ(steps_of(moved + "m1 = Mul(r, each) y = Tanh(m1)"), 0u);
  EXPECT_EQ(steps_of(moved + "m1 = Mul(r, deep) y = Tanh(m1)"), 0u);
  EXPECT_EQ(steps_of(moved + "y = Tanh(r) z = Neg(c)", "float y, float z"), 0u);
  EXPECT_EQ(steps_of(moved + "y = Tanh(r)", "float y, float r"), 0u);
  EXPECT_EQ(steps_of("t = Transpose<perm = [0, 2, 3, 1]>(x) y = Tanh(t)"), 0u);
  EXPECT_EQ(steps_of(moved + "y = Less(r, two)", "bool y"), 0u);
}

}  // namespace
}  // namespace assay::engine
