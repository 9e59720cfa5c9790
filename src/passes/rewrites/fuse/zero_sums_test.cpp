#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

std::string after_zero_sums(const std::string& nodes) {
  return testing_support::nodes_after("remove-zero-sums",
                                      "g (float[N,2] x) => (float[N,2] y) <float[2] z = {0, 0}, float[1,1,2] deep = "
                                      "{0, 0}, float[2] b = {0, 1}, float s = {0}> {" +
                                          nodes + " }");
}

TEST(ZeroSums, go) {
  EXPECT_EQ(after_zero_sums("t = Add(x, z) y = Exp(t)"), "y = Exp (x)");
  EXPECT_EQ(after_zero_sums("t = Add(z, x) u = Add(t, s) y = Exp(u)"), "y = Exp (x)");
}

TEST(ZeroSums, stay_where_they_change_something) {
  EXPECT_EQ(after_zero_sums("t = Add(x, b) y = Exp(t)"), "t = Add (x, b); y = Exp (t)");
  EXPECT_NE(after_zero_sums("t = Add(x, deep) y = Exp(t)"), "y = Exp (x)");
  EXPECT_EQ(after_zero_sums("y = Add(x, z)"), "y = Add (x, z)");
}

}  // namespace
}  // namespace assay::passes
