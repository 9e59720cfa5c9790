#include "engine/lowering/rows_first.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

double part(size_t i) { return static_cast<double>(i % 7) / 4 - 0.75; }

// The steps that a model takes of six rows and of what a product makes of them.
size_t steps_of(const std::string& body, const std::string& outputs = "float y") {
  const ir::Model model = testing_support::parsed(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,3,4] x) => ({}) <float[4,4] w = "
      "{{1,2,3,4,5,6,7,8,9,10,11,-12,13,14,15,16}}, int64[2] rows = {{-1,4}}, int64[3] dims = {{2,3,4}}, int64[3] "
      "mixed = {{2,6,2}}, float[4] each = {{1,2,3,4}}> {{ {} }}",
      outputs, body));
  ir::Model changed = model.copy();
  ir::Rewriter rewriter(changed);
  rows_first(changed, rewriter);
  const auto expected = testing_support::run_on_reference(model, part);
  EXPECT_EQ(testing_support::difference(testing_support::run_on_reference(changed, part), expected, 0), "") << body;
  EXPECT_EQ(testing_support::difference(testing_support::run_on_engine(model, part).outputs, expected, 1e-6), "")
      << body;
  return rewriter.steps().size();
}

TEST(RowsFirst, OfProducts) {
  const std::string product = "a = Reshape(x, rows) c = Gemm(a, w) d = Reshape(c, dims) ";
  EXPECT_EQ(steps_of(product + "y = Add(d, x)"), 1u);
  EXPECT_EQ(steps_of(product + "y = Sub(x, d)"), 1u);
  EXPECT_EQ(steps_of("a = Reshape(x, rows) c = MatMul(a, w) d = Reshape(c, dims) e = Neg(x) y = Add(e, d)"), 1u);
}

TEST(RowsFirst, LeavesOthersAlone) {
  const std::string product = "a = Reshape(x, rows) c = Gemm(a, w) d = Reshape(c, dims) ";
  EXPECT_EQ(steps_of(product + "y = Add(d, each)"), 0u);
  EXPECT_EQ(steps_of(product + "y = Add(d, d)"), 0u);
  EXPECT_EQ(steps_of(product + "y = Add(d, x) z = Neg(d)", "float y, float z"), 0u);
  EXPECT_EQ(steps_of(product + "y = Add(d, x) z = Neg(c)", "float y, float z"), 0u);
  EXPECT_EQ(steps_of(product + "y = Relu(d)"), 0u);
  EXPECT_EQ(steps_of("a = Reshape(x, rows) c = Gemm(a, w) d = Reshape(c, mixed) e = Reshape(x, mixed) y = Add(d, e)"),
            0u);
}

}  // namespace
}  // namespace assay::engine
