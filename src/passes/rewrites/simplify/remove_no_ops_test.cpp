#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::nodes_after;

std::string after_removing(const std::string& model) { return nodes_after("remove-no-ops", model); }

// What becomes of x -> nodes -> s -> Softmax -> y.
std::string between(const std::string& type, const std::string& nodes, const std::string& weights = "") {
  return after_removing("g (" + type + " x) => (" + type + " y) <" + weights + "> {" + nodes + " y = Softmax(s)}");
}

const std::string kGone = "y = Softmax (x)";

TEST(RemoveNoOps, RemovesCopies) {
  EXPECT_EQ(between("float[N,4]", "a = Identity(x) s = Identity(a)"), kGone);
  EXPECT_EQ(between("float[N,4]", "s = Dropout(x)"), kGone);
  EXPECT_EQ(between("float[N,4]", "s = Dropout(x, r, f)", "float r = {0.5}, bool f = {0}"), kGone);
  EXPECT_EQ(between("float[N,4]", "s = Sum(x)"), kGone);
  EXPECT_EQ(between("float[N,4]", "s = Concat<axis=0>(x)"), kGone);
  EXPECT_EQ(between("float[N,4]", "s = Split<axis=1, num_outputs=1>(x)"), kGone);
}

TEST(RemoveNoOps, KeepsWhatTrains) {
  EXPECT_EQ(between("float[N,4]", "s = Dropout(x, r, t)", "float r = {0}, bool t = {1}"), kGone);
  EXPECT_NE(between("float[N,4]", "s = Dropout(x, r, t)", "float r = {0.5}, bool t = {1}"), kGone);
  EXPECT_NE(after_removing("g (float[4] x) => (float[4] y, bool[4] m) {y, m = Dropout(x)}"), "");
}

TEST(RemoveNoOps, RemovesWhatKeepsTypeAndShape) {
  EXPECT_EQ(between("float[N,4]", "s = Cast<to=1>(x)"), kGone);
  EXPECT_EQ(between("float[N,4]", "s = CastLike(x, w)", "float w = {0}"), kGone);
  EXPECT_EQ(between("float[N,4]", "s = Transpose<perm=[0,1]>(x)"), kGone);
  EXPECT_EQ(between("float[4]", "s = Transpose(x)"), kGone);
  EXPECT_EQ(between("float[N,4]", "s = Reshape(x, k)", "int64[2] k = {0, 4}"), kGone);
  EXPECT_EQ(between("float[N,4]", "s = Flatten(x)"), kGone);
  EXPECT_EQ(between("float[N,4]", "s = Expand(x, k)", "int64[1] k = {4}"), kGone);
  EXPECT_EQ(between("float[N,4]", "s = Tile(x, k)", "int64[2] k = {1, 1}"), kGone);
  EXPECT_EQ(between("float[2,4]", "s = Pad(x, k)", "int64[4] k = {0, 0, 0, 0}"), kGone);
  EXPECT_EQ(between("float[2,4]", "s = Slice(x, a, b)", "int64[2] a = {0, 0}, int64[2] b = {9, 4}"), kGone);
  EXPECT_EQ(between("float[1,1,2,2]", "s = Resize(x, , k)", "float[4] k = {1, 1, 1, 1}"), kGone);
}

TEST(RemoveNoOps, KeepsWhatChangesTypeShapeOrOrder) {
  EXPECT_NE(between("float[N,4]", "s = Cast<to=10>(x)"), kGone);
  EXPECT_NE(between("float[4,4]", "s = Transpose(x)"), kGone);
  EXPECT_NE(between("float[N,4]", "s = Reshape(x, k)", "int64[2] k = {4, -1}"), kGone);
  EXPECT_NE(between("float[N,M,4]", "s = Flatten(x)"), kGone);
  EXPECT_NE(between("float[2,4]", "s = Pad(x, k)", "int64[4] k = {1, 0, -1, 0}"), kGone);
  EXPECT_NE(between("float[2,4]", "s = Slice(x, a, b, c, d)",
                    "int64[1] a = {3}, int64[1] b = {-5}, int64[1] c = {1}, int64[1] d = {-1}"),
            kGone);
  EXPECT_NE(between("float[1,1,2,2]", "s = Resize<mode=\"linear\">(x, , k)", "float[4] k = {1, 1, 1, 1}"), kGone);
}

TEST(RemoveNoOps, RemovesArithmeticThatKeepsEveryBit) {
  EXPECT_EQ(between("float[N,4]", "s = Mul(x, w)", "float w = {1}"), kGone);
  EXPECT_EQ(between("float[N,4]", "s = Mul(w, x)", "float[4] w = {1, 1, 1, 1}"), kGone);
  EXPECT_EQ(between("float[N,4]", "s = Div(x, w)", "float[1,1] w = {1}"), kGone);
  EXPECT_EQ(between("float[N,4]", "s = Sub(x, w)", "float w = {0}"), kGone);
  EXPECT_EQ(between("float[N,4]", "s = Add(x, w)", "float w = {-0.0}"), kGone);
  EXPECT_EQ(between("float[N,4]", "a = Neg(x) s = Neg(a)"), "a = Neg (x); y = Softmax (x)");
  EXPECT_EQ(between("float[N,4]", "a = Relu(x) s = Relu(a)"), "a = Relu (x); y = Softmax (a)");
  EXPECT_EQ(after_removing("g (int32[2] x) => (int32[2] y) <int32 w = {0}> {a = Add(x, w) y = Neg(a)}"), "y = Neg (x)");
}

TEST(RemoveNoOps, KeepsArithmeticThatChangesABitOrTheShape) {
  EXPECT_NE(between("float[N,4]", "s = Add(x, w)", "float w = {0}"), kGone) << "-0 + 0 is 0";
  EXPECT_NE(between("float[N,4]", "s = Sub(x, w)", "float w = {-0.0}"), kGone);
  EXPECT_NE(between("float[N,4]", "s = Sub(w, x)", "float w = {0}"), kGone);
  EXPECT_NE(between("float[N,4]", "s = Div(w, x)", "float w = {1}"), kGone);
  EXPECT_NE(between("float[N,4]", "s = Mul(x, w)", "float[4] w = {1, 1, 2, 1}"), kGone);
  EXPECT_EQ(after_removing("g (float[4] x) => (float[2,4] y) <float[2,1] w = {1, 1}> {a = Mul(x, w) y = Neg(a)}"),
            "a = Mul (x, w); y = Neg (a)");
}

TEST(RemoveNoOps, OutputsKeepTheirNames) {
  EXPECT_EQ(after_removing("g (float[4] x) => (float[4] y) {y = Identity(x)}"), "y = Identity (x)");
  EXPECT_EQ(after_removing("g (float[4] x) => (float[4] y) {a = Neg(x) y = Identity(a)}"), "y = Neg (x)");
  EXPECT_EQ(after_removing("g (float[4] x) => (float[4] y, float[4] z) {y = Neg(x) z = Identity(y)}"),
            "y = Neg (x); z = Identity (y)");
}

// Each call of a function has its own types, and its own attributes.
TEST(RemoveNoOps, KeepsWhatOnlyACallDecides) {
  const testing_support::Rewritten outcome = testing_support::rewritten("remove-no-ops", R"(
<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
g (float[4] x) => (float16[4] y) {y = local.f<to=10>(x)}
<domain: "local", opset_import: ["" : 21]>
f <to> (a) => (c) {b = Cast<to: int = @to>(a) c = Identity(b)}
)");
  EXPECT_EQ(outcome.steps, 1u);
  EXPECT_NE(outcome.text.find("c = Cast <to: int = @to> (a)"), std::string::npos) << outcome.text;
}

}  // namespace
}  // namespace assay::passes
