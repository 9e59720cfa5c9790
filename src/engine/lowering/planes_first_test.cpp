#include "engine/lowering/planes_first.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

double part(size_t i) { return static_cast<double>(i % 7) / 4 - 0.75; }

// The steps that a model takes of two items with three planes of 300 numbers.
size_t steps_of(const std::string& body, const std::string& outputs = "float[k,l,m,n] y") {
  const ir::Model model = testing_support::parsed(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,3,15,20] x) => ({}) <float[3,2] w = {{1,2,3,4,5,-6}}, "
      "float[2] "
      "b = {{3,-1}}, float one = {{0.5}}, float[2,1,1,1] each = {{1,2}}, int64[3] flat = {{2,3,300}}, int64[3] rows = "
      "{{2,300,3}}, int64[4] made = {{2,2,15,20}}> {{ {} }}",
      outputs, body));
  ir::Model changed = model.copy();
  ir::Rewriter rewriter(changed);
  const uint64_t steps = planes_first(changed, rewriter);
  const auto expected = testing_support::run_on_reference(model, part);
  EXPECT_EQ(testing_support::difference(testing_support::run_on_reference(changed, part), expected, 1e-6), "") << body;
  EXPECT_EQ(testing_support::difference(testing_support::run_on_engine(model, part).outputs, expected, 1e-6), "")
      << body;
  return steps;
}

const std::string kBehind = "a = Transpose <perm = [0,2,3,1]> (x) c = MatMul(a, w) ";

TEST(PlanesFirst, OfPlanesAsTheyLie) {
  EXPECT_EQ(steps_of(kBehind + "y = Transpose <perm = [0,3,1,2]> (c)"), 1u);
  EXPECT_EQ(steps_of(kBehind + "d = Add(c, b) y = Transpose <perm = [0,3,1,2]> (d)"), 1u);
  EXPECT_EQ(steps_of(kBehind + "d = Mul(one, c) y = Transpose <perm = [0,3,1,2]> (d)"), 1u);
  EXPECT_EQ(steps_of("f = Reshape(x, flat) a = Transpose <perm = [0,2,1]> (f) c = MatMul(a, w) d = Transpose <perm = "
                     "[0,2,1]> (c) y = Reshape(d, made)"),
            1u);
}

TEST(PlanesFirst, LeavesOthersAlone) {
  EXPECT_EQ(steps_of(kBehind + "y = Transpose <perm = [0,3,2,1]> (c)"), 0u);
  EXPECT_EQ(steps_of(kBehind + "y = Relu(c)"), 0u);
  EXPECT_EQ(steps_of(kBehind + "d = Add(c, each) y = Transpose <perm = [0,3,1,2]> (d)"), 0u);
  EXPECT_EQ(steps_of(kBehind + "y = Transpose <perm = [0,3,1,2]> (c) z = Neg(c)", "float[k,l,m,n] y, float[k,l,m,n] z"),
            0u);
  EXPECT_EQ(steps_of("a = Reshape(x, rows) c = MatMul(a, w) d = Transpose <perm = [0,2,1]> (c) y = Reshape(d, made)"),
            0u);
}

}  // namespace
}  // namespace assay::engine
