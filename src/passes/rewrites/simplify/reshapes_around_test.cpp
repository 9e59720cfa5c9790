#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::nodes_after;
using testing_support::rewritten;

const std::string kTargets = "int64[2] s = {6, 4}, int64[3] t = {2, 3, 4}, int64[3] u = {4, 3, 2}, int64[1] i = {0}";

std::string model(const std::string& nodes, const std::string& weights = "") {
  return "g (float[2,3,4] x) => (y) <" + kTargets + (weights.empty() ? "" : ", " + weights) + "> {" + nodes + "}";
}

std::string after_reshapes(const std::string& nodes, const std::string& weights = "") {
  return nodes_after("remove-reshapes-around", model(nodes, weights));
}

bool is_kept(const std::string& nodes, const std::string& weights = "") {
  return rewritten("remove-reshapes-around", model(nodes, weights)).steps == 0;
}

TEST(ReshapesAround, LeavesTheNodesBetweenAlone) {
  EXPECT_EQ(after_reshapes("a = Reshape(x, s) b = Relu(a) y = Reshape(b, t)"), "y = Relu (x)");
  EXPECT_EQ(nodes_after("remove-reshapes-around", "<ir_version: 11, opset_import: [\"\" : 24]> " +
                                                      model("a = Reshape(x, s) b = Swish(a) y = Reshape(b, t)")),
            "y = Swish (x)");
  EXPECT_EQ(after_reshapes("a = Unsqueeze(x, i) b = Relu(a) y = Squeeze(b, i)"), "y = Relu (x)");
  EXPECT_EQ(
      after_reshapes("a = Reshape(x, s) b = Exp(a) c = Mul(a, b) d = Add(c, k) y = Reshape(d, t)", "float k = {2}"),
      "Exp_0 = Exp (x); Mul_1 = Mul (x, Exp_0); y = Add (Mul_1, k)");
}

TEST(ReshapesAround, TakesConstantsOfTheLastDim) {
  EXPECT_EQ(after_reshapes("a = Reshape(x, s) b = Mul(w, a) y = Reshape(b, t)", "float[1,4] w = {1, 2, 3, 4}"),
            "y = Mul (w, x)");
  EXPECT_TRUE(is_kept("a = Reshape(x, s) b = Mul(w, a) y = Reshape(b, t)", "float[6,1] w = {1, 2, 3, 4, 5, 6}"));
  EXPECT_TRUE(
      is_kept("a = Reshape(x, t) b = Reshape(a, r) c = Mul(w, b) y = Reshape(c, t)",
              "int64[1] r = {24}, float[24] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, "
              "19, 20, 21, 22, 23, 24}"));
}

TEST(ReshapesAround, TakesSeveralStartsAndEnds) {
  EXPECT_EQ(after_reshapes(
                "a = Reshape(x, s) b = Relu(a) c = Reshape(x, s) d = Add(b, c) e = Reshape(b, t) f = Reshape(d, t) "
                "y = Concat<axis=0>(e, f)"),
            "e = Relu (x); f = Add (e, x); y = Concat <axis: int = 0> (e, f)");
}

TEST(ReshapesAround, KeepsStartsThatOthersNeed) {
  EXPECT_EQ(
      after_reshapes("a = Reshape(x, s) b = Relu(a) c = Reshape(b, t) d = Softmax(a) e = Reshape(d, t) y = Add(c, e)"),
      "a = Reshape (x, s); c = Relu (x); d = Softmax (a); e = Reshape (d, t); y = Add (c, e)");
}

TEST(ReshapesAround, KeepsWhatIsNotReshapedBack) {
  EXPECT_TRUE(is_kept("a = Reshape(x, s) b = Relu(a) y = Reshape(b, u)"));
  EXPECT_TRUE(is_kept("a = Reshape(x, s) b = Softmax(a) y = Reshape(b, t)"));
  EXPECT_TRUE(is_kept("b = Relu(x) y = Reshape(b, s)"));
  EXPECT_TRUE(is_kept("a = Reshape(x, s) b = Relu(a) c = Reshape(b, t) d = Softmax(b) e = Reshape(d, t) y = Add(c, e)"))
      << "Softmax needs what is between";
}

TEST(ReshapesAround, OutputsBetweenStay) {
  EXPECT_EQ(rewritten("remove-reshapes-around",
                      "g (float[2,3] x) => (y, b) <int64[1] s = {6}, int64[2] t = {2, 3}>"
                      "{a = Reshape(x, s) b = Relu(a) y = Reshape(b, t)}")
                .steps,
            0u);
}

}  // namespace
}  // namespace assay::passes
