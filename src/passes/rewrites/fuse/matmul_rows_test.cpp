#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::rewritten;

const std::string kWeights =
    "<float[2,2] u = {1, 2, 3, 4}, float[2,2] v = {1, 2, 3, 4}, float[2] p = {1, 2}, "
    "int64[4] s = {0, 0, 1, 2}, int64[3] t = {2, 3, 2}>";

std::string model(const std::string& type, const std::string& nodes) {
  return "g (" + type + " x) => (y) " + kWeights + "{" + nodes + "}";
}

TEST(FuseMatMulRows, SharesTheRows) {
  const testing_support::Rewritten outcome =
      rewritten("fuse-matmul-rows", model("float[2,3,2]",
                                          "a = MatMul(x, u) b = Add(a, p) c = Reshape(b, s) "
                                          "d = MatMul(x, v) e = Add(p, d) f = Reshape(e, s) y = Add(c, f)"));
  EXPECT_EQ(outcome.nodes,
            "Reshape_3 = Reshape (x, constant_0); Gemm_4 = Gemm (Reshape_3, u, p); c = Reshape (Gemm_4, constant_1); "
            "Gemm_5 = Gemm (Reshape_3, v, p); f = Reshape (Gemm_5, constant_2); y = Add (c, f)");
}

TEST(FuseMatMulRows, MergesWithAReshapeBefore) {
  const testing_support::Rewritten outcome = rewritten(
      "fuse-matmul-rows", model("float[3,2,2]", "r = Reshape(x, t) a = MatMul(r, u) b = Add(a, p) y = Reshape(b, s)"));
  EXPECT_EQ(outcome.steps, 1u);
  EXPECT_EQ(outcome.nodes.find("MatMul"), std::string::npos) << outcome.nodes;
}

TEST(FuseMatMulRows, KeepsWhatWouldNotBeFewerNodes) {
  const std::string one = "a = MatMul(x, u) b = Add(a, p) c = Reshape(b, s) ";
  EXPECT_EQ(rewritten("fuse-matmul-rows", model("float[2,3,2]", one + "y = Neg(c)")).steps, 0u);
  EXPECT_EQ(rewritten("fuse-matmul-rows", model("float[2,3,2]", one + "d = MatMul(x, v) e = Add(d, p) f = Neg(e) "
                                                                      "g = Reshape(f, s) y = Add(c, g)"))
                .steps,
            0u)
      << "a sum that is used otherwise";
}

TEST(FuseMatMulRows, KeepsIntegers) {
  const std::string weights = "<int32[2,2] u = {1, 2, 3, 4}, int32[2] p = {1, 2}, int64[4] s = {0, 0, 1, 2}>";
  EXPECT_EQ(rewritten("fuse-matmul-rows", "g (int32[2,3,2] x) => (y) " + weights +
                                              "{a = MatMul(x, u) b = Add(a, p) c = Reshape(b, s) d = MatMul(x, u) "
                                              "e = Add(d, p) f = Reshape(e, s) y = Add(c, f)}")
                .steps,
            0u);
}

}  // namespace
}  // namespace assay::passes
