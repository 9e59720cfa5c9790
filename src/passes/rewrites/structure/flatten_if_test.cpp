#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::nodes_after;
using testing_support::rewritten;

std::string after_flattening(const std::string& graph) { return nodes_after("flatten-if", graph); }

const std::string kBranches =
    "then_branch = t () => (float[2] u) <float[2] w = {1, 2}> {a = Add(x, w) u = Neg(a)}, "
    "else_branch = e () => (float[2] v) {v = Identity(x)}";

TEST(FlattenIf, TakesTheBranchOfAConstantCondition) {
  EXPECT_EQ(after_flattening("g (float[2] x) => (float[2] y) <bool c = {1}> {y = If(c) <" + kBranches + ">}"),
            "y_a = Add (x, y_w); y = Neg (y_a)");
  EXPECT_EQ(after_flattening("g (float[2] x) => (float[2] y) <bool c = {0}> {y = If(c) <" + kBranches + ">}"),
            "y = Identity (x)");
}

TEST(FlattenIf, KeepsAConditionThatIsNotConstant) {
  EXPECT_EQ(rewritten("flatten-if", "g (bool c, float[2] x) => (float[2] y) {y = If(c) <" + kBranches + ">}").steps,
            0u);
}

TEST(FlattenIf, BranchesMayGiveOuterValuesAndConstants) {
  EXPECT_EQ(after_flattening(
                "g (float[2] x) => (float[2] y, float[2] z, float[2] q) <bool c = {1}> {o = Neg(x) y, z, q = If(c) <"
                "then_branch = t () => (float[2] o1, float[2] w, float[2] w2) <float[2] w = {1, 2}> "
                "{o1 = Identity(o) w2 = Identity(w)}, "
                "else_branch = e () => (float[2] a, float[2] b, float[2] d) "
                "{a = Neg(o) b = Abs(o) d = Exp(o)}>}"),
            "o = Neg (x); y = Identity (o); q = Identity (z)");
}

TEST(FlattenIf, GoesOnInWhatCame) {
  EXPECT_EQ(
      after_flattening(
          "g (float[2] x) => (float[2] y) <bool c = {1}> {y = If(c) <then_branch = t () => (float[2] u) {u = If(c) <"
          "then_branch = t2 () => (float[2] u2) {u2 = Neg(x)}, else_branch = e2 () => (float[2] v2) {v2 = Exp(x)}>}, "
          "else_branch = e () => (float[2] v) {v = Abs(x)}>}"),
      "y = Neg (x)");
}

}  // namespace
}  // namespace assay::passes
