#include "ops/live_inference.h"

#include <array>

#include <gtest/gtest.h>

#include "support/inference_checks.h"
#include "support/parsed_model.h"

namespace assay::ops {
namespace {

using testing_support::inference_fault;
using testing_support::parsed;
using testing_support::value_named;

class Edited {
 public:
  explicit Edited(std::string text) : model_(parsed(std::move(text))), edit_(model_), live_(edit_) { live_.now(); }

  ir::Edit& edit() { return edit_; }
  ir::ValueId operator[](std::string_view name) const { return value_named(model_, name); }
  ir::NodeId producer(std::string_view name) const { return model_[(*this)[name]].producer; }
  // By tables that are kept, and not made again.
  std::string type(std::string_view name) {
    const Inference& known = live_.more();
    EXPECT_EQ(inference_fault(model_, known), "");
    return known.type((*this)[name]).text();
  }
  LiveInference& live() { return live_; }
  ir::ValueId add(std::string_view op, std::string_view operand, ir::NodeId before) {
    ir::NodeSpec spec;
    spec.op = edit_.intern(op);
    const std::array operands = {(*this)[operand]};
    const std::array results = {edit_.intern("made")};
    spec.operands = operands;
    spec.results = results;
    return model_[edit_.add_node(model_.main_graph(), spec, before)].results[0];
  }

 private:
  ir::Model model_;
  ir::Edit edit_;
  LiveInference live_;
};

TEST(LiveInferenceTest, InfersWhatIsMade) {
  Edited edited("g (float[n,3] X) => (float[] Y) { a = Relu(X) Y = Neg(a) }");
  const ir::ValueId made = edited.add("Shape", "a", edited.producer("Y"));
  EXPECT_EQ(edited.type("made"), "int64[2]");
  EXPECT_EQ(edited.live().more().elements(made)->items[0].text(), "n");
}

TEST(LiveInferenceTest, FollowsWhatBecomesAnother) {
  Edited edited("g (float[n,3] X, float[3,7] W) => (float[] Y) { a = Identity(X) b = MatMul(a, W) Y = Neg(b) }");
  const ir::ValueId made = edited.add("Transpose", "X", edited.producer("b"));
  edited.edit().replace_uses(edited["a"], edited["X"]);
  edited.edit().set_operand(edited.producer("b"), 0, made);
  EXPECT_EQ(edited.type("made"), "float32[3, n]");
  edited.edit().set_operand(edited.producer("Y"), 0, made);
  EXPECT_EQ(edited.type("Y"), "float32[3, n]");
}

TEST(LiveInferenceTest, FollowsOperatorsAndAttributes) {
  Edited edited("g (float[2,3] X) => (Y) { a = Cast<to=10>(X) Y = Neg(a) }");
  EXPECT_EQ(edited.type("Y"), "float16[2, 3]");
  edited.edit().remove_attribute(edited.producer("a"), edited.edit().intern("to"));
  edited.edit().set_op(edited.producer("a"), edited.edit().intern("Relu"));
  EXPECT_EQ(edited.type("Y"), "float32[2, 3]");
}

TEST(LiveInferenceTest, FollowsDeclaredTypes) {
  Edited edited("g (float[2,3] X) => (Y) { Y = Neg(X) }");
  edited.edit().set_type(edited["X"], {});
  EXPECT_EQ(edited.type("Y"), "?");
}

TEST(LiveInferenceTest, KeepsSymbolsOfUnknownSizes) {
  Edited edited("g (float[3] X) => (Y, Z) { i = NonZero(X) Y = Neg(i) Z = Shape(i) }");
  EXPECT_EQ(edited.type("Y"), "int64[1, unk__0]");
  edited.edit().rename(edited.producer("i"), "named");
  EXPECT_EQ(edited.type("Y"), "int64[1, unk__0]");
}

TEST(LiveInferenceTest, FollowsBodies) {
  Edited edited(
      "g (bool C, float[2,3] X, float[4] V) => (Y) {"
      " a = Identity(X) Y = If(C) <then_branch = t () => (u) { u = Neg(a) }, else_branch = e () => (w) { w = Relu(a) "
      "}> }");
  EXPECT_EQ(edited.type("Y"), "float32[2, 3]");
  edited.edit().replace_uses(edited["a"], edited["V"]);
  EXPECT_EQ(edited.type("Y"), "float32[4]");
}

TEST(LiveInferenceTest, FindingsGoWithTheirCause) {
  Edited edited("g (float[2,3] X, float[4,5] W) => (Y) { a = Transpose(X) Y = MatMul(X, W) }");
  EXPECT_EQ(edited.live().now().findings().size(), 1u);
  edited.edit().set_operand(edited.producer("Y"), 1, edited["a"]);
  EXPECT_TRUE(edited.live().now().findings().empty());
  EXPECT_EQ(edited.type("Y"), "float32[2, 2]");
}

TEST(LiveInferenceTest, OnlyANewOneKnowsAnotherVersion) {
  Edited edited("g (float[2,3] X) => (Y) { Y = Neg(X) }");
  edited.edit().header().opset_imports[0].version = 20;
  EXPECT_EQ(edited.live().more().callees()[edited.producer("Y")].version, 21);
  EXPECT_EQ(edited.live().now().callees()[edited.producer("Y")].version, 20);
}

}  // namespace
}  // namespace assay::ops
