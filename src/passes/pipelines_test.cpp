#include "passes/pipelines.h"

#include <array>

#include <gtest/gtest.h>

#include "ir/walk.h"
#include "match/find.h"
#include "support/model_checks.h"
#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::error_of;
using testing_support::nodes_text;
using testing_support::parsed;

match::Pattern two_relus() {
  match::Pattern pattern;
  pattern.inputs = {"x"};
  pattern.outputs = {"y"};
  pattern.nodes.resize(2);
  pattern.nodes[0].ops = pattern.nodes[1].ops = {"Relu"};
  pattern.nodes[0].inputs = {"x"};
  pattern.nodes[0].outputs = pattern.nodes[1].inputs = {"a"};
  pattern.nodes[1].outputs = {"y"};
  match::check(pattern);
  return pattern;
}

void merge_relus(PassRun& run) {
  const match::Pattern pattern = two_relus();
  for (const ir::GraphId graph : ir::live_graphs(run.model())) {
    for (const match::Match& match : match::find(run.model(), graph, pattern)) {
      ir::Patch patch;
      patch.replace(match.outputs[0], patch.add({.op = "Relu", .operands = {match.inputs[0]}}));
      patch.remove(match.nodes[1]);  // users first
      patch.remove(match.nodes[0]);
      if (!run.rewriter().commit("merge {1} and {0}", patch)) return;
    }
  }
  for (const ir::NodeId node : ir::live_nodes(run.model())) {
    if (run.is_op(node, "LeakyRelu")) run.skip(node, "it is no Relu");
  }
}

// A pass that no name leads to, as those of an engine's lowering.
constexpr Pass kMergeRelus = {.name = "merge-relus", .summary = "keep one of two Relus", .run = merge_relus};

constexpr std::string_view kModel =
    "g (float[4] x, bool c) => (float[4] y, float[4] z) {\n"
    "  a = Relu(x) b = Relu(a) [leaky] y = LeakyRelu(b)\n"
    "  z = If(c) <then_branch = t () => (float[4] t2) { t1 = Relu(x) t2 = Relu(t1) },\n"
    "            else_branch = e () => (float[4] e1) { e1 = Neg(x) }>\n}";

TEST(Pipeline, runs_a_pass_that_is_not_registered) {
  EXPECT_TRUE(error_of([] { find_pass(kMergeRelus.name); }));
  ir::Model model = parsed(std::string(kModel));
  ir::Rewriter rewriter(model);
  const Options options;
  Pipeline pipeline(model, rewriter, options);
  EXPECT_EQ(pipeline.run({&kMergeRelus, 1}), 2u);
  ASSERT_EQ(rewriter.steps().size(), 2u);
  EXPECT_EQ(rewriter.explain(rewriter.steps()[0]), "step 1: merge Relu of `a` and Relu of `b`");
  EXPECT_EQ(model.origins().of(rewriter.steps()[0].added[0]).size(), 2u);
  ASSERT_EQ(pipeline.results().size(), 1u);
  EXPECT_EQ(pipeline.results()[0].pass, "merge-relus");
  EXPECT_EQ(pipeline.results()[0].steps, 2u);
  ASSERT_EQ(pipeline.skipped().size(), 1u);
  EXPECT_EQ(pipeline.skipped()[0].reason, "it is no Relu");
  EXPECT_EQ(pipeline.run_until_stable({&kMergeRelus, 1}), 0u);
  ir::check_structure(model);
}

TEST(Pipeline, stops_after_a_step_of_such_a_pass) {
  ir::Model model = parsed(std::string(kModel));
  ir::Rewriter rewriter(model, 1);
  const Options options;
  Pipeline pipeline(model, rewriter, options);
  const std::array passes = {kMergeRelus, find_pass("remove-dead")};
  EXPECT_EQ(pipeline.run(passes), 1u);
  EXPECT_TRUE(rewriter.is_done());
  EXPECT_EQ(pipeline.results().size(), 1u);
  EXPECT_EQ(nodes_text(model).find("a = Relu"), std::string::npos);
  EXPECT_NE(onnx::to_text(model).find("t1 = Relu"), std::string::npos);
}

TEST(Options, are_by_type_and_have_defaults) {
  struct Own {
    int depth = 3;
  };
  Options options;
  EXPECT_EQ(options.get<Own>().depth, 3);
  EXPECT_FALSE(options.has<Own>());
  options.of<Own>().depth = 5;
  const Options copy = options;
  options.of<Own>().depth = 7;
  EXPECT_EQ(copy.get<Own>().depth, 5);
  EXPECT_EQ(options.get<Own>().depth, 7);
}

}  // namespace
}  // namespace assay::passes
