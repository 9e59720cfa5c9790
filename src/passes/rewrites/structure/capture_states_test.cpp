#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::Rewritten;
using testing_support::rewritten;

Rewritten after_capture(const std::string& body, const std::string& rest = "y = Neg(l)") {
  return rewritten("capture-states",
                   "g (float[2] x, float[2] w, int64 n, bool c) => (float[2] y) {l, k = Loop(n, c, x, w) "
                   "<body = b (int64 i, bool ci, float[2] s, float[2] v) => " +
                       body + "> " + rest + "}");
}

bool holds(const Rewritten& made, const std::string& text) { return made.text.find(text) != std::string::npos; }

TEST(CaptureStates, ReadsWhatNeverChangesFromOutside) {
  const Rewritten made = after_capture("(bool co, float[2] so, float[2] v) {co = Identity(ci) so = Mul(s, v)}",
                                       "a = Add(l, k) y = Neg(a)");
  EXPECT_EQ(made.steps, 1U);
  EXPECT_TRUE(holds(made, "so = Mul (s, w)")) << made.text;
  EXPECT_TRUE(holds(made, "a = Add (l, w)")) << made.text;
}

TEST(CaptureStates, SeesThroughIdentitiesAndIntoBodies) {
  const Rewritten made = after_capture(
      "(bool co, float[2] so, float[2] u) {co = Identity(ci) u = Identity(v) so = If(co) <then_branch = t () => "
      "(float[2] p) {p = Mul(s, v)}, else_branch = e () => (float[2] q) {q = Identity(v)}>}");
  EXPECT_TRUE(holds(made, "p = Mul (s, w)")) << made.text;
  EXPECT_TRUE(holds(made, "q = Identity (w)")) << made.text;
}

TEST(CaptureStates, LeavesWhatChangesOrIsNotRead) {
  EXPECT_EQ(after_capture("(bool co, float[2] so, float[2] u) {co = Identity(ci) so = Mul(s, v) u = Neg(v)}").steps,
            0U);
  EXPECT_EQ(after_capture("(bool co, float[2] v, float[2] s) {co = Identity(ci)}").steps, 0U);
  EXPECT_EQ(after_capture("(bool co, float[2] so, float[2] v) {co = Identity(ci) so = Neg(s)}").steps, 0U);
}

}  // namespace
}  // namespace assay::passes
