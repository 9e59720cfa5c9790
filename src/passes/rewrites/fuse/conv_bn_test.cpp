#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::rewritten;
using testing_support::Rewritten;

Rewritten after(const std::string& nodes, const std::string& weights = "float[2,1,1] w = {2, 4}") {
  return rewritten("fuse-conv-bn", "g (float[1,N,8] x) => (y) <" + weights +
                                       ", float[2] bias = {1, 2}, float[2] s = {3, 5}, float[2] b = {10, 20}, "
                                       "float[2] m = {1, 1}, float[2] v = {3, 8}> {" +
                                       nodes + "}");
}

// scale / sqrt(var + 1) is 1.5 for channel 0 and 5 / 3 for channel 1.
const std::string kNorm = "BatchNormalization<epsilon=1.0>(c, s, b, m, v)";

TEST(FuseConvBn, MergesScaleAndShift) {
  const Rewritten outcome = after("c = Conv(x, w, bias) y = " + kNorm);
  EXPECT_EQ(outcome.nodes, "y = Conv (x, constant_0, constant_1)");
  EXPECT_NE(outcome.text.find("constant_0 = {3, 6.6666665}"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("constant_1 = {10, 21.666666}"), std::string::npos) << outcome.text;
}

TEST(FuseConvBn, ChannelsOfGroupsOfATransposedConvolution) {
  const Rewritten outcome = after("c = ConvTranspose<group=2>(x, w) y = " + kNorm, "float[4,1,1] w = {1, 2, 3, 6}");
  EXPECT_NE(outcome.text.find("constant_0 = {1.5, 3, 5, 10}"), std::string::npos) << outcome.text;
}

TEST(FuseConvBn, KeepsWhatIsUsedElsewhereOrTrains) {
  EXPECT_EQ(after("c = Conv(x, w) a = " + kNorm + " d = Neg(c) y = Add(a, d)").steps, 0u);
  EXPECT_EQ(after("c = Conv(x, w) y, p, q = BatchNormalization<training_mode=1>(c, s, b, m, v)").steps, 0u);
}

TEST(FuseConvBn, KeepsWhatWouldOverflow) {
  const Rewritten outcome = after("c = Conv(x, w) y = " + kNorm, "float[2,1,1] w = {3e38, 1}");
  EXPECT_EQ(outcome.steps, 0u);
  EXPECT_EQ(outcome.skipped, (std::vector<std::string>{"merged weights would leave the range of their type"}));
}

}  // namespace
}  // namespace assay::passes
