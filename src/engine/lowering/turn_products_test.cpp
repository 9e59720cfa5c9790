#include "engine/lowering/turn_products.h"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

uint64_t turns_of(const std::string& graph) {
  const ir::Model model = testing_support::parsed("<ir_version: 8, opset_import: [\"\" : 17]> g " + graph);
  ir::Model turned = model.copy();
  ir::Rewriter rewriter(turned);
  turn_products(turned, rewriter);
  const auto expected = testing_support::run_on_reference(model, testing_support::sine);
  EXPECT_EQ(
      testing_support::difference(testing_support::run_on_reference(turned, testing_support::sine), expected, 1e-5), "")
      << graph;
  EXPECT_EQ(
      testing_support::difference(testing_support::run_on_engine(model, testing_support::sine).outputs, expected, 1e-5),
      "")
      << graph;
  return rewriter.steps().size();
}

TEST(TurnProducts, OfWhatSoftmaxGives) {
  EXPECT_EQ(turns_of("(float[2,30,40] a, float[2,20,40] b) => (float y) { s = Softmax(b) t = Transpose<perm = "
                     "[0,2,1]>(s) y = MatMul(a, t) }"),
            1U);
}

TEST(TurnProducts, OfFewRowsByLargeMatrices) {
  EXPECT_EQ(turns_of("(float[2,3,300] a, float[2,40,300] b) => (float y) { t = Transpose<perm = [0,2,1]>(b) y = "
                     "MatMul(a, t) }"),
            1U);
}

TEST(TurnProducts, OthersStay) {
  for (const char* const graph :
       {"(float[3,70] a, float[40,70] b) => (float y) { t = Transpose<perm = [1,0]>(b) y = MatMul(a, t) }",
        "(float[3,70] a, float[70,40] b) => (float y) { s = Softmax(b) y = MatMul(a, s) }",
        "(float[3,70] a, float[2,40,70] b) => (float y) { s = Softmax(b) t = Transpose<perm = [0,2,1]>(s) y = "
        "MatMul(a, "
        "t) }",
        "(float[3,70] a, float[40,70] b) => (float y, float t) { s = Softmax(b) t = Transpose<perm = [1,0]>(s) y = "
        "MatMul(a, t) }"}) {
    EXPECT_EQ(turns_of(graph), 0U) << graph;
  }
}

}  // namespace
}  // namespace assay::engine
