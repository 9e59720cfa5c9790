#include "ir/rewriter.h"

#include <array>

#include <gtest/gtest.h>

#include "base/check.h"
#include "ir/verify.h"

namespace assay::ir {
namespace {

// x -> Conv -> c -> Relu -> r -> Identity -> y, which is the output; all float[N,8].
class RewriterTest : public testing::Test {
 protected:
  RewriterTest() {
    Edit edit(model_);
    graph_ = edit.add_graph();
    type_ = model_.types().tensor(tensor::DType::float32,
                                  {model_.dims().symbol(edit.intern("N")), model_.dims().constant(8)});
    x_ = edit.add_input(graph_, edit.intern("x"), type_);
    conv_ = add(edit, "Conv", "c", x_);
    relu_ = add(edit, "Relu", "r", result(conv_));
    identity_ = add(edit, "Identity", "y", result(relu_));
    edit.set_outputs(graph_, std::array{result(identity_)});
  }

  NodeId add(Edit& edit, std::string_view op, std::string_view name, ValueId operand) {
    const std::array operands = {operand};
    const std::array results = {edit.intern(name)};
    NodeSpec spec;
    spec.op = edit.intern(op);
    spec.operands = operands;
    spec.results = results;
    const NodeId node = edit.add_node(graph_, spec);
    edit.set_type(model_[node].results[0], type_);
    return node;
  }

  ValueId result(NodeId node) const { return model_[node].results[0]; }
  std::string name(ValueId value) const { return std::string(model_.text(model_[value].name)); }

  Patch fuse() const {
    Patch patch;
    const PatchValue fused = patch.add({.op = "FusedConv", .operands = {x_}});
    patch.replace(result(relu_), fused);
    patch.remove(relu_);
    patch.remove(conv_);
    return patch;
  }

  Model model_;
  GraphId graph_;
  TypeId type_;
  ValueId x_;
  NodeId conv_, relu_, identity_;
};

TEST_F(RewriterTest, AppliesAPatchAsAWhole) {
  Rewriter rewriter(model_);
  ASSERT_TRUE(rewriter.commit("merge Conv and Relu", fuse()));
  check_structure(model_);
  EXPECT_EQ(model_[graph_].node_count, 2u);
  const NodeId made = model_[graph_].first;
  EXPECT_EQ(model_.text(model_[made].op), "FusedConv");
  EXPECT_EQ(name(result(made)), "r");
  EXPECT_EQ(model_[result(made)].type, type_);
  EXPECT_EQ(model_[identity_].operands[0].value, result(made));
  Diagnostics findings;
  verify(model_, findings);
  EXPECT_TRUE(findings.empty());
}

TEST_F(RewriterTest, ExplainsItsSteps) {
  Rewriter rewriter(model_);
  rewriter.commit("merge Conv and Relu", fuse());
  ASSERT_EQ(rewriter.steps().size(), 1u);
  EXPECT_EQ(rewriter.explain(rewriter.steps()[0]),
            "step 1: merge Conv and Relu: the Relu node of `r`, the Conv node of `c` -> the FusedConv node of `r`");
}

TEST_F(RewriterTest, OriginsFollowThroughSeveralSteps) {
  Rewriter rewriter(model_);
  const ValueId source = result(relu_);
  rewriter.commit("merge Conv and Relu", fuse());
  const NodeId first = model_[graph_].first;
  Patch patch;
  const PatchValue again = patch.add({.op = "Faster", .operands = {x_}});
  patch.replace(result(first), again);
  patch.remove(first);
  rewriter.commit("choose a faster one", patch);
  const NodeId second = model_[graph_].first;
  EXPECT_EQ(model_.origins().of(second), (std::vector<NodeId>{conv_, relu_}));
  EXPECT_EQ(model_.origins().of(identity_), (std::vector<NodeId>{identity_}));
  EXPECT_EQ(model_.origins().current(source), result(second));
}

TEST_F(RewriterTest, StopsAfterTheLastAllowedStep) {
  Rewriter rewriter(model_, 0);
  EXPECT_FALSE(rewriter.commit("merge Conv and Relu", fuse()));
  EXPECT_EQ(model_[graph_].node_count, 3u);
  EXPECT_TRUE(rewriter.is_done());
}

TEST_F(RewriterTest, AnOutputKeepsItsName) {
  Patch patch;
  const PatchValue fused = patch.add({.op = "Relu6", .operands = {result(conv_)}});
  patch.replace(result(identity_), fused);
  patch.remove(identity_);
  patch.remove(relu_);
  Rewriter rewriter(model_);
  ASSERT_TRUE(rewriter.commit("fold", patch));
  EXPECT_EQ(name(model_.outputs(graph_)[0].value), "y");
}

TEST_F(RewriterTest, AValueThatBecomesAnOutputTakesItsName) {
  Patch patch;
  patch.replace(result(identity_), result(relu_));
  patch.remove(identity_);
  Rewriter rewriter(model_);
  ASSERT_TRUE(rewriter.commit("remove Identity", patch));
  check_structure(model_);
  EXPECT_EQ(model_.outputs(graph_)[0].value, result(relu_));
  EXPECT_EQ(name(result(relu_)), "y");
}

TEST_F(RewriterTest, AnInputCannotBecomeAnOutput) {
  Patch patch;
  patch.replace(result(identity_), x_);
  patch.remove(identity_);
  Rewriter rewriter(model_);
  EXPECT_FALSE(rewriter.can_replace(result(identity_), x_));
  EXPECT_THROW(rewriter.commit("remove Identity", patch), InternalError);
  EXPECT_EQ(model_[graph_].node_count, 3u);
}

TEST_F(RewriterTest, AConstantHasANameOfItsOwn) {
  Patch patch;
  const auto two = tensor::make_tensor<float>(tensor::DType::float32, {1}, {{2.0f}});
  const PatchValue sum = patch.add({.op = "Add", .operands = {x_, patch.add_constant(two, "x")}});
  patch.replace(result(relu_), patch.add({.op = "Mul", .operands = {sum, patch.add_constant(two, "x")}}));
  patch.remove(relu_);
  Rewriter rewriter(model_);
  ASSERT_TRUE(rewriter.commit("spell out", patch));
  check_structure(model_);
  const NodeId product = model_[model_[identity_].operands[0].value].producer;
  const NodeId first = model_[model_[product].operands[0].value].producer;
  EXPECT_EQ(name(model_[first].operands[1].value), "x_1");
  EXPECT_EQ(name(model_[product].operands[1].value), "x_2");
}

TEST_F(RewriterTest, AConstantTakesTheNameOfWhatItReplaces) {
  Patch patch;
  patch.replace(result(relu_), patch.add_constant(tensor::make_tensor<float>(tensor::DType::float32, {1}, {{2.0f}})));
  patch.remove(relu_);
  Rewriter rewriter(model_);
  ASSERT_TRUE(rewriter.commit("fold", patch));
  check_structure(model_);
  const ValueId constant = model_[identity_].operands[0].value;
  EXPECT_EQ(model_[constant].kind, ValueKind::initializer);
  EXPECT_EQ(name(constant), "r");
  EXPECT_EQ(rewriter.explain(rewriter.steps()[0]), "step 1: fold: the Relu node of `r` -> `r`");
}

TEST_F(RewriterTest, RemovesWhatNothingUses) {
  Edit edit(model_);
  const ValueId unused = edit.add_initializer(graph_, edit.intern("w"), edit.add_tensor({}));
  Patch patch;
  patch.remove(unused);
  Rewriter rewriter(model_);
  ASSERT_TRUE(rewriter.commit("nothing uses it", patch));
  EXPECT_TRUE(model_[graph_].initializers.empty());
  EXPECT_EQ(rewriter.explain(rewriter.steps()[0]), "step 1: nothing uses it: `w` -> nothing");
}

TEST_F(RewriterTest, RecordsANodeThatGaveWayToOthers) {
  Edit edit(model_);
  const NodeId made = add(edit, "Fast", "f", x_);
  edit.replace_uses(result(conv_), result(made));
  edit.move_before(made, conv_);
  edit.erase(conv_);
  Rewriter rewriter(model_);
  rewriter.record("take another", conv_, {made});
  EXPECT_EQ(rewriter.explain(rewriter.steps()[0]),
            "step 1: take another: the Conv node of `c` -> the Fast node of `f`");
  EXPECT_EQ(model_.origins().of(made), (std::vector<NodeId>{conv_}));
}

TEST_F(RewriterTest, AppliesOneChangeOfSeveralNodesInAStepForEach) {
  const std::array changed = {conv_, relu_};
  NodeId from_nowhere;
  NodeId from_relu;
  const auto change = [&](Rewriter& rewriter) {
    from_nowhere = add(rewriter.edit(), "Cast", "k", result(conv_));
    from_relu = add(rewriter.edit(), "Fast", "f", result(conv_));
    rewriter.edit().origins().merge(from_relu, {relu_});
  };
  Rewriter short_one(model_, 1);
  EXPECT_FALSE(short_one.apply("cast", changed, [&] { change(short_one); }));
  EXPECT_FALSE(from_nowhere);
  EXPECT_TRUE(short_one.steps().empty());
  Rewriter rewriter(model_, 2);
  EXPECT_TRUE(rewriter.apply("cast", changed, [&] { change(rewriter); }));
  ASSERT_EQ(rewriter.steps().size(), 2u);
  EXPECT_EQ(rewriter.explain(rewriter.steps()[0]), "step 1: cast: the Conv node of `c`");
  EXPECT_EQ(rewriter.explain(rewriter.steps()[1]), "step 2: cast: the Relu node of `r`");
  EXPECT_TRUE(model_.origins().of(from_nowhere).empty());
  EXPECT_EQ(model_.origins().of(from_relu), std::vector<NodeId>{relu_});
  EXPECT_FALSE(rewriter.apply("cast", {}, [] {}));
}

TEST_F(RewriterTest, RefusesATypeThatSaysLess) {
  Patch worse;
  const TypeId other = model_.types().tensor(tensor::DType::float16, {});
  const PatchValue fused = worse.add({.op = "FusedConv", .operands = {x_}, .result_types = {other}});
  worse.replace(result(relu_), fused);
  worse.remove(relu_);
  Rewriter rewriter(model_);
  EXPECT_THROW(rewriter.commit("lose precision", worse), InternalError);
  EXPECT_EQ(model_[graph_].node_count, 3u);
}

TEST_F(RewriterTest, RefusesANodeBeforeItsOperands) {
  Patch patch;
  const PatchValue early = patch.add({.op = "Neg", .operands = {result(relu_)}});
  patch.replace(result(identity_), early);
  patch.remove(identity_);
  patch.insert_before(conv_);
  Rewriter rewriter(model_);
  EXPECT_THROW(rewriter.commit("misplace", patch), InternalError);
}

}  // namespace
}  // namespace assay::ir
