#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::rewritten;
using testing_support::Rewritten;

// Scales 2 and 3, shifts 1 and -1.
Rewritten after(const std::string& product, const std::string& type = "float[N,3]") {
  return rewritten("fuse-gemm-bn",
                   "g (" + type +
                       " x) => (y) <float[2] s = {2, 3}, float[2] b = {1, -1}, float[2] m = {0, 0}, "
                       "float[2] v = {1, 1}, float[3,2] w = {1, 2, 3, 4, 5, 6}, float[2,3] t = {1, 2, 3, 4, 5, 6}, "
                       "float[1,2] c = {4, 6}> {p = " +
                       product + " y = BatchNormalization<epsilon=0.0>(p, s, b, m, v)}");
}

TEST(FuseGemmBn, MergesIntoGemm) {
  const Rewritten outcome = after("Gemm<beta=0.5, alpha=2.0>(x, w, c)");
  EXPECT_EQ(outcome.nodes, "y = Gemm <alpha: float = 2> (x, constant_0, constant_1)");
  EXPECT_NE(outcome.text.find("constant_0 = {2, 6, 6, 12, 10, 18}"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("constant_1 = {5, 8}"), std::string::npos) << outcome.text;
}

TEST(FuseGemmBn, CountsColumnsOfTransposedWeights) {
  const Rewritten outcome = after("Gemm<transB=1>(x, t)");
  EXPECT_NE(outcome.text.find("constant_0 = {2, 4, 6, 12, 15, 18}"), std::string::npos) << outcome.text;
}

TEST(FuseGemmBn, MakesAGemmOfAMatMul) {
  EXPECT_EQ(after("MatMul(x, w)").nodes, "y = Gemm (x, constant_0, constant_1)");
  EXPECT_EQ(after("MatMul(x, w)", "float[5,2,3]").steps, 0u) << "the channels are rows there";
}

}  // namespace
}  // namespace assay::passes
