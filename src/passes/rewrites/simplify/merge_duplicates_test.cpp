#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::nodes_after;

std::string after_merging(const std::string& model) { return nodes_after("merge-duplicates", model); }

TEST(MergeDuplicates, MergesWhatIsTheSameAndWhatFollowsFromIt) {
  EXPECT_EQ(after_merging("g (float[4] x) => (float[4] y) {a = Neg(x) b = Neg(x) c = Abs(a) d = Abs(b) y = Add(c, d)}"),
            "a = Neg (x); c = Abs (a); y = Add (c, c)");
}

TEST(MergeDuplicates, LooksIntoAttributes) {
  EXPECT_EQ(
      after_merging("g (float[4] x) => (float[4] y) {a = Elu<alpha=0.5>(x) b = Elu<alpha=0.25>(x) y = Add(a, b)}"),
      "a = Elu <alpha: float = 0.5> (x); b = Elu <alpha: float = 0.25> (x); y = Add (a, b)");
  EXPECT_EQ(after_merging(
                "g (float[1] x) => (float[1] y) {a = Constant<value=float[1] {1}>() b = Constant<value=float[1] {1}>() "
                "c = Constant<value=float[1] {2}>() d = Add(a, b) e = Add(c, d) y = Add(x, e)}"),
            "a = Constant <value: tensor = float[1] {1}> (); c = Constant <value: tensor = float[1] {2}> (); "
            "d = Add (a, a); e = Add (c, d); y = Add (x, e)");
}

TEST(MergeDuplicates, KeepsWhatIsRandom) {
  const std::string nodes = "a = RandomNormal <shape: ints = [4]> (); b = RandomNormal <shape: ints = [4]> (); ";
  EXPECT_EQ(
      after_merging("g () => (float[4] y) {a = RandomNormal<shape=[4]>() b = RandomNormal<shape=[4]>() y = Add(a, b)}"),
      nodes + "y = Add (a, b)");
}

TEST(MergeDuplicates, OutputsKeepTheirNames) {
  EXPECT_EQ(after_merging("g (float[4] x) => (float[4] y, float[4] z) {a = Neg(x) y = Neg(x) z = Neg(x)}"),
            "y = Neg (x); z = Neg (x)");
}

TEST(MergeDuplicates, BodiesReuseWhatIsAroundThem) {
  EXPECT_EQ(after_merging("g (bool c, float[4] x) => (float[4] y) {a = Neg(x) y = If(c) <"
                          "then_branch = t () => (float[4] u) {b = Neg(x) u = Abs(b)}, "
                          "else_branch = e () => (float[4] v) {d = Exp(x) v = Add(d, a)}>}"),
            after_merging("g (bool c, float[4] x) => (float[4] y) {a = Neg(x) y = If(c) <"
                          "then_branch = t () => (float[4] u) {u = Abs(a)}, "
                          "else_branch = e () => (float[4] v) {d = Exp(x) v = Add(d, a)}>}"));
}

TEST(MergeDuplicates, BodiesDoNotReuseEachOther) {
  const std::string model =
      "g (bool c, float[4] x) => (float[4] y) {y = If(c) <then_branch = t () => (float[4] u) {b = Neg(x) u = Abs(b)}, "
      "else_branch = e () => (float[4] v) {d = Neg(x) v = Exp(d)}>}";
  EXPECT_EQ(testing_support::rewritten("merge-duplicates", model).steps, 0u);
}

TEST(MergeDuplicates, GraphsDoNotReuseWhatIsInBodies) {
  const std::string model =
      "g (bool c, float[4] x) => (float[4] z) {y = If(c) <then_branch = t () => (float[4] u) {b = Neg(x) u = Abs(b)}, "
      "else_branch = e () => (float[4] v) {d = Neg(x) v = Exp(d)}> a = Neg(x) z = Add(y, a)}";
  EXPECT_EQ(testing_support::rewritten("merge-duplicates", model).steps, 0u);
}

}  // namespace
}  // namespace assay::passes
