#include "engine/lowering/products_first.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/lowering/join_moves.h"
#include "support/engine_run.h"

namespace assay::engine {
namespace {

double part(size_t i) { return static_cast<double>(i % 7) / 4 - 0.75; }

// Three sequences of two rows, and heads of two columns for them.
ir::Model model_of(const std::string& body, const std::string& outputs) {
  return testing_support::parsed(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[3,2,4] x, float[3,2,2,2] h) => ({}) <float[4,4] w = "
      "{{1,2,3,4,5,6,7,8,9,10,11,-12,13,14,15,16}}, float[4] b = {{1,-2,3,4}}, float[3,3] w2 = {{1,2,3,4,5,6,7,8,9}}, "
      "float[2,1,1] each = {{1,2}}, int64[2] rows = "
      "{{6,4}}, int64[3] turned = {{2,3,4}}, int64[3] joined = {{2,6,2}}, int64[4] heads = {{3,2,2,2}}> {{ {} }}",
      outputs, body));
}

// The steps that a pass takes, which change no result of the model.
size_t steps_of(void (*pass)(ir::Model&, ir::Rewriter&), const std::string& body,
                const std::string& outputs = "float[k,l,m] y") {
  const ir::Model model = model_of(body, outputs);
  ir::Model changed = model.copy();
  ir::Rewriter rewriter(changed);
  pass(changed, rewriter);
  const auto expected = testing_support::run_on_reference(model, part);
  EXPECT_EQ(testing_support::difference(testing_support::run_on_reference(changed, part), expected, 0), "") << body;
  EXPECT_EQ(testing_support::difference(testing_support::run_on_engine(model, part).outputs, expected, 1e-6), "")
      << body;
  return rewriter.steps().size();
}

const std::string kTurned = "a = Transpose <perm = [1,0,2]> (x) ";
const std::string kOfHeads = "a = Transpose <perm = [2,0,1,3]> (h) ";
const std::string kTurnedBack = "y = Transpose <perm = [1,0,2]> (d)";

TEST(ProductsFirst, OfRowsAsTheyAre) {
  EXPECT_EQ(steps_of(products_first, kTurned + "c = MatMul(a, w) y = Transpose <perm = [1,2,0]> (c)"), 1u);
  EXPECT_EQ(steps_of(products_first, kTurned + "c = MatMul(a, w) d = Add(b, c) y = Transpose <perm = [2,1,0]> (d)"),
            1u);
  EXPECT_EQ(steps_of(products_first, kTurned + "e = Reshape(a, rows) c = Gemm(e, w, b) y = Reshape(c, joined)"), 1u);
}

TEST(ProductsFirst, OfRowsInTheOrderOfTheResult) {
  const std::string gemm = "e = Reshape(a, rows) c = Gemm <transB = 1> (e, w, b) d = Reshape(c, turned) ";
  EXPECT_EQ(steps_of(products_first, kOfHeads + gemm + kTurnedBack), 1u);
  const std::string matmul = "e = Reshape(a, turned) c = MatMul(e, w) d = Mul(c, b) ";
  EXPECT_EQ(steps_of(products_first, kOfHeads + matmul + kTurnedBack), 1u);
}

TEST(ProductsFirst, LeavesOthersAlone) {
  const auto are_left = [](const std::string& body, const std::string& outputs = "float[k,l,m] y") {
    return steps_of(products_first, body, outputs) == 0;
  };
  EXPECT_TRUE(are_left(kTurned + "c = MatMul(a, w) y = Relu(c)"));
  EXPECT_TRUE(are_left("c = MatMul(x, w) y = Transpose <perm = [1,0,2]> (c)"));
  EXPECT_TRUE(are_left(kOfHeads + "e = Reshape(a, turned) c = MatMul(e, w) y = Reshape(c, joined)"));
  EXPECT_TRUE(are_left(kTurned + "c = MatMul(a, w) d = Add(c, each) " + kTurnedBack));
  EXPECT_TRUE(are_left(kTurned + "c = MatMul(a, w) y = Transpose <perm = [1,2,0]> (c) z = Neg(a)",
                       "float[k,l,m] y, float[k,l,m] z"));
  EXPECT_TRUE(are_left(kTurned + "e = Reshape(a, turned) c = MatMul(w2, e) y = Reshape(c, joined)"));
}

TEST(JoinMoves, OfHeadsOfSeveralSequences) {
  const std::string body = kTurned +
                           "b1 = Reshape(a, joined) c = Transpose <perm = [1,0,2]> (b1) d = Reshape(c, heads) t = "
                           "Transpose <perm = [0,1,3,2]> (h) e = MatMul(d, t) f = Softmax(e) y = MatMul(f, h)";
  EXPECT_EQ(steps_of(join_moves, body, "float[k,l,m,n] y"), 1u);
  const auto run = testing_support::run_on_engine(model_of(body, "float[k,l,m,n] y"), part);
  EXPECT_EQ(run.tactics, std::vector<std::string>{"attention.blocks"});
}

TEST(JoinMoves, LeavesOthersAlone) {
  EXPECT_EQ(steps_of(join_moves, kTurned + "b1 = Reshape(a, joined) c = Transpose <perm = [1,0,2]> (b1) y = Neg(c)"),
            0u);
  EXPECT_EQ(steps_of(join_moves,
                     kTurned + "b1 = Reshape(a, joined) c = Transpose <perm = [1,0,2]> (b1) d = Reshape(c, "
                               "heads) y = Add(d, h) z = Neg(b1)",
                     "float[k,l,m,n] y, float[k,l,m] z"),
            0u);
}

}  // namespace
}  // namespace assay::engine
