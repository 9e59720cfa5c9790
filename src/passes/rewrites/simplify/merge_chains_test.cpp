#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::nodes_after;

std::string after_chains(const std::string& type, const std::string& nodes, const std::string& weights = "") {
  return nodes_after("merge-chains", "g (" + type + " x) => (y) <" + weights + "> {" + nodes + "}");
}

TEST(MergeChains, Transposes) {
  EXPECT_EQ(after_chains("float[2,3,4]", "a = Transpose<perm=[1,2,0]>(x) y = Transpose<perm=[1,0,2]>(a)"),
            "y = Transpose <perm: ints = [2, 1, 0]> (x)");
  EXPECT_EQ(after_chains("float[2,3,4]", "a = Transpose<perm=[1,2,0]>(x) b = Transpose<perm=[2,0,1]>(a) y = Neg(b)"),
            "y = Neg (x)");
  EXPECT_EQ(after_chains("float[2,3]", "a = Transpose(x) y = Transpose<perm=[1,0]>(a)"), "y = Identity (x)");
  EXPECT_EQ(after_chains("float[2,3]", "a = Transpose(x) b = Transpose<perm=[1,0]>(a) y = Add(b, b) z = Neg(a)"),
            "a = Transpose (x); y = Add (x, x); z = Neg (a)");
}

TEST(MergeChains, Reshapes) {
  EXPECT_EQ(after_chains("float[N,6]", "a = Flatten<axis=0>(x) y = Reshape(a, k)", "int64[2] k = {-1, 2}"),
            "y = Reshape (x, k)");
  EXPECT_EQ(after_chains("float[N,6]", "a = Reshape(x, s) b = Unsqueeze(a, i) y = Reshape(b, k)",
                         "int64[2] s = {6, -1}, int64[1] i = {0}, int64[2] k = {-1, 2}"),
            "y = Reshape (x, k)");
  EXPECT_EQ(after_chains("float[4,6]", "a = Reshape(x, s) y = Flatten<axis=2>(a)", "int64[3] s = {2, 3, 4}"),
            "y = Reshape (x, constant_0)");
}

TEST(MergeChains, GoesOnWhereAMergeFreesAChain) {
  EXPECT_EQ(after_chains("float[2]",
                         "a = Flatten(x) b = Flatten<axis=2>(a) c = Flatten<axis=0>(a) y = Reshape(c, k) z = Neg(b)",
                         "int64[1] k = {-1}"),
            "b = Reshape (x, constant_0); y = Reshape (x, k); z = Neg (b)");
}

TEST(MergeChains, KeepsReshapesThatCopyDimsOfWhatComesBetween) {
  const std::string weights = "int64[2] s = {6, -1}, int64[2] k = {0, -1}";
  EXPECT_EQ(after_chains("float[N,6]", "a = Reshape(x, s) y = Reshape(a, k)", weights),
            "a = Reshape (x, s); y = Reshape (a, k)");
}

TEST(MergeChains, CastsThatLoseNothing) {
  EXPECT_EQ(after_chains("float16[2]", "a = Cast<to=1>(x) y = Cast<to=10>(a)"), "y = Cast <to: int = 10> (x)");
  EXPECT_EQ(after_chains("int8[2]", "a = Cast<to=6>(x) y = Cast<to=7>(a)"), "y = Cast <to: int = 7> (x)");
  EXPECT_EQ(after_chains("int8[2]", "a = Cast<to=6>(x) y = Cast<to=2>(a)"), "y = Cast <to: int = 2> (x)");
  EXPECT_EQ(after_chains("bool[2]", "a = Cast<to=6>(x) y = Cast<to=1>(a)"), "y = Cast <to: int = 1> (x)");
}

TEST(MergeChains, KeepsCastsThatLose) {
  const auto kept = [](const std::string& type, int through, int to) {
    const std::string a = std::to_string(through);
    const std::string b = std::to_string(to);
    return after_chains(type, "a = Cast<to=" + a + ">(x) y = Cast<to=" + b + ">(a)") ==
           "a = Cast <to: int = " + a + "> (x); y = Cast <to: int = " + b + "> (a)";
  };
  EXPECT_TRUE(kept("float[2]", 10, 1));
  EXPECT_TRUE(kept("float[2]", 16, 1));
  EXPECT_TRUE(kept("int64[2]", 11, 7)) << "2^53 + 1 is no double";
  EXPECT_TRUE(kept("int64[2]", 6, 7));
  EXPECT_TRUE(kept("int32[2]", 12, 7)) << "-1 is no uint32";
  EXPECT_TRUE(kept("float16[2]", 16, 1));
  EXPECT_TRUE(kept("int8[2]", 1, 2)) << "floats below zero become other unsigned numbers than integers";
  EXPECT_TRUE(kept("float[2]", 11, 8)) << "text shows the type";
}

TEST(MergeChains, SqueezeAndUnsqueeze) {
  EXPECT_EQ(after_chains("float[N,4]", "a = Unsqueeze(x, k) b = Squeeze(a, j) y = Neg(b)",
                         "int64[2] k = {0, 2}, int64[2] j = {2, 0}"),
            "y = Neg (x)");
  EXPECT_EQ(after_chains("float[N,1]", "a = Squeeze(x, k) y = Unsqueeze(a, k)", "int64[1] k = {-1}"),
            "y = Identity (x)");
  EXPECT_EQ(after_chains("float[N,1]", "a = Unsqueeze(x, k) y = Squeeze(a, j)", "int64[1] k = {0}, int64[1] j = {2}"),
            "a = Unsqueeze (x, k); y = Squeeze (a, j)");
}

TEST(MergeChains, Concats) {
  EXPECT_EQ(after_chains("float[2,3]",
                         "a = Neg(x) b = Concat<axis=1>(x, a) c = Concat<axis=1>(a, b, b) d = Concat<axis=1>(c, x) "
                         "y = Concat<axis=0>(d, d)"),
            "a = Neg (x); b = Concat <axis: int = 1> (x, a); d = Concat <axis: int = 1> (a, b, b, x); "
            "y = Concat <axis: int = 0> (d, d)");
  EXPECT_EQ(after_chains("float[2,3]", "b = Concat<axis=1>(x, x) c = Concat<axis=1>(b, x) y = Concat<axis=1>(x, c)"),
            "y = Concat <axis: int = 1> (x, x, x, x)");
}

TEST(MergeChains, Pads) {
  const std::string weights = "int64[4] k = {1, 0, 0, 2}, int64[4] j = {1, 1, 1, 1}, float z = {0}, float o = {1}";
  EXPECT_EQ(after_chains("float[2,3]", "a = Pad(x, k) y = Pad(a, j, z)", weights), "y = Pad (x, constant_0, z)");
  EXPECT_EQ(after_chains("float[2,3]", "a = Pad(x, k, o) y = Pad(a, j)", weights), "a = Pad (x, k, o); y = Pad (a, j)");
  EXPECT_EQ(after_chains("float[2,3]", "a = Pad<mode=\"edge\">(x, k) y = Pad(a, j)", weights),
            "a = Pad <mode: string = \"edge\"> (x, k); y = Pad (a, j)");
}

TEST(MergeChains, KnowsTheTypeOfWhatItHasMade) {
  const testing_support::Rewritten outcome =
      testing_support::rewritten("merge-chains", R"(g (float[2] x) => (float[8] y)
    { d = Cast<to = 1>(x)  e = Cast<to = 1>(d)  a = Concat<axis = 0>(e, x)  b = Concat<axis = 0>(a, x, x)
      c = Cast<to = 1>(b)  y = Cast<to = 1>(c) })");
  EXPECT_EQ(outcome.steps, 3u);
}

}  // namespace
}  // namespace assay::passes
