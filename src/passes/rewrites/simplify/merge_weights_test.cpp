#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::nodes_after;
using testing_support::rewritten;

TEST(MergeWeights, KeepsOneOfThoseThatAreTheSame) {
  const testing_support::Rewritten outcome = rewritten("merge-weights",
                                                       "g (float[2] x) => (float[2] y) <float[2] u = {1, 2}, float[2] "
                                                       "v = {1, 2}, float[2] w = {1, 3}, float[2] o = {1, 2}>"
                                                       "{a = Add(x, u) b = Add(a, v) c = Add(b, w) y = Add(c, o)}");
  EXPECT_EQ(outcome.nodes, "a = Add (x, u); b = Add (a, u); c = Add (b, w); y = Add (c, u)");
  EXPECT_EQ(outcome.steps, 3u) << "two merges and one removal";
  EXPECT_EQ(outcome.text.find("v ="), std::string::npos);
}

TEST(MergeWeights, ComparesTypeShapeAndBits) {
  const std::string model =
      "g (float[1,2] x) => (y) <float[2] u = {0, 1}, float[1,2] v = {0, 1}, float[2] w = {-0.0, 1}, int32 i = {0}, "
      "float f = {0}> {a = Add(x, u) b = Add(a, v) c = Add(b, w) d = Cast<to=1>(i) e = Add(d, f) y = Add(c, e)}";
  EXPECT_EQ(rewritten("merge-weights", model).steps, 0u);
}

TEST(MergeWeights, OutputsStay) {
  EXPECT_EQ(
      nodes_after("merge-weights",
                  "g (float[1] x) => (float[1] y, float[1] w) <float[1] v = {1}, float[1] w = {1}> {y = Add(x, v)}"),
      "y = Add (x, w)");
}

TEST(MergeWeights, BodiesTakeThoseAroundThemAndNotOfEachOther) {
  const testing_support::Rewritten outcome = rewritten(
      "merge-weights",
      "g (bool c, float[1] x) => (float[1] y) <float[1] k = {1}> {z = Add(x, k) y = If(c) <"
      "then_branch = t () => (float[1] u) <float[1] a = {1}, float[1] b = {2}> {d = Add(z, a) u = Add(d, b)}, "
      "else_branch = e () => (float[1] v) <float[1] f = {2}> {v = Add(z, f)}>}");
  EXPECT_EQ(outcome.steps, 2u);
  EXPECT_NE(outcome.text.find("d = Add (z, k)"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("v = Add (z, f)"), std::string::npos) << outcome.text;
}

}  // namespace
}  // namespace assay::passes
