#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::rewritten;

std::string after(const std::string& node, const std::string& constant) {
  return rewritten("fuse-conv-mul", "g (float[1,1,8] x) => (y) <float[2,1,1] w = {2, 4}, float[2] b = {1, 2}, " +
                                        constant + "> {c = Conv(x, w, b) y = " + node + "}")
      .text;
}

TEST(FuseConvMul, MergesFactors) {
  const std::string product = after("Mul(k, c)", "float[2,1] k = {3, 5}");
  EXPECT_NE(product.find("constant_0 = {6, 20}"), std::string::npos) << product;
  EXPECT_NE(product.find("constant_1 = {3, 10}"), std::string::npos) << product;
  const std::string quotient = after("Div(c, k)", "float k = {2}");
  EXPECT_NE(quotient.find("constant_0 = {1, 2}"), std::string::npos) << quotient;
}

TEST(FuseConvMul, KeepsWhatIsDividedAndDivisionByZero) {
  EXPECT_NE(after("Div(k, c)", "float k = {2}").find("y = Div (k, c)"), std::string::npos);
  EXPECT_NE(after("Div(c, k)", "float k = {0}").find("y = Div (c, k)"), std::string::npos);
}

}  // namespace
}  // namespace assay::passes
