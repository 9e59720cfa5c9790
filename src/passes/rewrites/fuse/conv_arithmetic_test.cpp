#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::rewritten;
using testing_support::Rewritten;

Rewritten after(const std::string& node, const std::string& constant) {
  return rewritten("fuse-conv-arithmetic", "g (float[1,1,8] x) => (y) <float[2,1,1] w = {2, 4}, float[2] b = {1, 2}, " +
                                               constant + "> {c = Conv(x, w, b) y = " + node + "}");
}

TEST(FuseConvArithmetic, MergesAConstantOfChannels) {
  EXPECT_NE(after("Add(c, k)", "float[2,1] k = {10, 20}").text.find("constant_1 = {11, 22}"), std::string::npos);
  EXPECT_NE(after("Add(k, c)", "float k = {10}").text.find("constant_1 = {11, 12}"), std::string::npos);
  EXPECT_NE(after("Sub(c, k)", "float[1,2,1] k = {1, 1}").text.find("constant_1 = {0, 1}"), std::string::npos);
  const std::string reversed = after("Sub(k, c)", "float k = {10}").text;
  EXPECT_NE(reversed.find("constant_0 = {-2, -4}"), std::string::npos) << reversed;
  EXPECT_NE(reversed.find("constant_1 = {9, 8}"), std::string::npos) << reversed;
}

TEST(FuseConvArithmetic, KeepsOtherShapes) {
  EXPECT_EQ(after("Add(c, k)", "float[1,8] k = {1, 2, 3, 4, 5, 6, 7, 8}").steps, 0u);
  EXPECT_EQ(after("Add(c, k)", "float[1,1,1,1] k = {1}").steps, 0u) << "one more dim";
}

TEST(FuseConvArithmetic, MergesFactors) {
  const std::string product = after("Mul(k, c)", "float[2,1] k = {3, 5}").text;
  EXPECT_NE(product.find("constant_0 = {6, 20}"), std::string::npos) << product;
  EXPECT_NE(product.find("constant_1 = {3, 10}"), std::string::npos) << product;
  const std::string quotient = after("Div(c, k)", "float k = {2}").text;
  EXPECT_NE(quotient.find("constant_0 = {1, 2}"), std::string::npos) << quotient;
}

TEST(FuseConvArithmetic, KeepsWhatIsDividedAndDivisionByZero) {
  EXPECT_NE(after("Div(k, c)", "float k = {2}").text.find("y = Div (k, c)"), std::string::npos);
  EXPECT_NE(after("Div(c, k)", "float k = {0}").text.find("y = Div (c, k)"), std::string::npos);
}

}  // namespace
}  // namespace assay::passes
