#include "ir/clone.h"

#include <gtest/gtest.h>

#include "ir/verify.h"
#include "support/pass_checks.h"

namespace assay::ir {
namespace {

using testing_support::nodes_text;
using testing_support::parsed;
using testing_support::value_named;

constexpr std::string_view kModel =
    "g (bool c, float[N] x) => (y) {o = Neg(x) y = If(c) <"
    "then_branch = t () => (float[N] u) <float[1] w = {1}> {a = Add(o, w) [deep] u = If(c) <"
    "then_branch = t2 () => (float[N] u2) {u2 = Add(a, o)}, else_branch = e2 () => (v2) {v2 = Identity(x)}>}, "
    "else_branch = e () => (v) {v = Identity(x)}> z = Neg(y)}";

class ClonerTest : public testing::Test {
 protected:
  ClonerTest() : model_(parsed(std::string(kModel))), edit_(model_) {
    node_ = model_[value_named(model_, "y")].producer;
    body_ = model_.bodies(model_[node_])[0];
  }
  std::string copy(bool drops_named_dims = false) {
    const ClonePlan plan = {.before = node_, .prefix = "p", .drops_named_dims = drops_named_dims};
    Cloner cloner(model_, edit_, plan);
    cloner.map(value_named(model_, "o"), value_named(model_, "x"));
    made_ = cloner.copy_contents(body_);
    u_ = cloner.mapped(model_.outputs(body_)[0].value);
    check_structure(model_);
    return nodes_text(model_);
  }

  Model model_;
  Edit edit_;
  NodeId node_;
  GraphId body_;
  ValueId u_;
  std::vector<NodeId> made_;
};

TEST_F(ClonerTest, CopiesNodesInitializersAndBodies) {
  const std::string text = copy();
  EXPECT_NE(text.find("p_a = Add (x, p_w); [p_deep] p_u = If (c)"), std::string::npos) << text;
  EXPECT_NE(text.find("p_u2 = Add (p_a, x)"), std::string::npos) << text;
  EXPECT_NE(text.find("u2 = Add (a, o)"), std::string::npos) << "the original stays: " << text;
  EXPECT_EQ(made_.size(), 2u);
  EXPECT_EQ(model_.text(model_[u_].name), "p_u");
}

TEST_F(ClonerTest, NamesAreNotTakenTwice) {
  copy();
  const std::string text = copy();
  EXPECT_NE(text.find("p_a_"), std::string::npos) << text;
  Diagnostics findings;
  verify(model_, findings);
  EXPECT_TRUE(findings.empty());
}

TEST_F(ClonerTest, ForgetsNamedDims) {
  copy(true);
  const Type& type = model_[model_[u_].type];
  EXPECT_TRUE(type.ranked && type.dims.size() == 1 && type.dims[0] == kUnknownDim);
}

}  // namespace
}  // namespace assay::ir
