#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

std::string after_products(const std::string& types, const std::string& sum = "Add(p, c)") {
  return testing_support::nodes_after("fuse-matmul-add", "g (" + types + ") => (y) {p = MatMul(a, b) y = " + sum + "}");
}

TEST(FuseMatmulAdd, MakesAGemm) {
  EXPECT_EQ(after_products("float[N,3] a, float[3,4] b, float[4] c"), "y = Gemm (a, b, c)");
  EXPECT_EQ(after_products("float[N,3] a, float[3,4] b, float[N,1] c", "Add(c, p)"), "y = Gemm (a, b, c)");
}

TEST(FuseMatmulAdd, KeepsWhatGemmCannotDo) {
  const std::string kept = "p = MatMul (a, b); y = Add (p, c)";
  EXPECT_EQ(after_products("float[2,N,3] a, float[3,4] b, float[4] c"), kept);
  EXPECT_EQ(after_products("float[N,3] a, float[3,4] b, float[2,1,4] c"), kept) << "the sum has more dims";
  EXPECT_EQ(after_products("float[1,3] a, float[3,4] b, float[5,4] c"), kept) << "the product would be enlarged";
  EXPECT_EQ(after_products("float[N,3] a, float[3,4] b, float[M,4] c"), kept);
  const std::string of_codes = "a = DequantizeLinear (q, s); ";
  EXPECT_EQ(testing_support::nodes_after("fuse-matmul-add",
                                         "g (uint8[N,3] q, float s, float[3,4] b, float[4] c) => (y) {a = "
                                         "DequantizeLinear(q, s) p = MatMul(a, b) y = Add(p, c)}"),
            of_codes + kept);
}

}  // namespace
}  // namespace assay::passes
