#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::rewritten;
using testing_support::Rewritten;

// Scales 2 and 3, shifts 1 and -1.
Rewritten after(const std::string& conv) {
  return rewritten("fuse-bn-conv",
                   "g (float[1,2,8] x) => (y) <float[2] s = {2, 3}, float[2] b = {1, -1}, float[2] m = {0, 0}, "
                   "float[2] v = {1, 1}, float[1,2,2] w = {1, 2, 3, 4}, float[2,1,2] k = {1, 2, 3, 4}> "
                   "{n = BatchNormalization<epsilon=0.0>(x, s, b, m, v) y = " +
                       conv + "}");
}

TEST(FuseBnConv, MergesScaleAndShift) {
  const Rewritten outcome = after("Conv(n, w)");
  EXPECT_EQ(outcome.nodes, "y = Conv (x, constant_0, constant_1)");
  EXPECT_NE(outcome.text.find("constant_0 = {2, 4, 9, 12}"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("constant_1 = {-4}"), std::string::npos) << outcome.text;
}

TEST(FuseBnConv, CountsInputChannelsOfGroups) {
  const Rewritten outcome = after("Conv<group=2>(n, k)");
  EXPECT_NE(outcome.text.find("constant_0 = {2, 4, 9, 12}"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("constant_1 = {3, -7}"), std::string::npos) << outcome.text;
}

TEST(FuseBnConv, KeepsAConvThatPads) {
  EXPECT_EQ(after("Conv<pads=[1, 0]>(n, w)").steps, 0u);
  EXPECT_EQ(after("Conv<auto_pad=\"SAME_UPPER\">(n, w)").steps, 0u);
}

}  // namespace
}  // namespace assay::passes
