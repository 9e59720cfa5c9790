#include <gtest/gtest.h>

#include "ir/verify.h"
#include "onnx/text.h"
#include "passes/fold/fold_options.h"
#include "passes/pipelines.h"
#include "support/parsed_model.h"

namespace assay::passes {
namespace {

using testing_support::parsed;

struct Outcome {
  std::string nodes;  // operators of the main graph in order
  std::string text;
  std::vector<std::string> skipped;
};

std::string operators(const ir::Model& model) {
  std::string text;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    text += (text.empty() ? "" : " ") + std::string(model.text(model[node].op));
  }
  return text;
}

Outcome fold(const std::string& text, const Options& options = {}, uint64_t last_step = UINT64_MAX) {
  ir::Model model = parsed(text);
  ir::Rewriter rewriter(model, last_step);
  Pipeline pipeline(model, rewriter, options);
  pipeline.run_until_stable(folding_passes());
  ir::check_structure(model);
  Outcome outcome{operators(model), onnx::to_text(model), {}};
  for (const Skipped& skipped : pipeline.skipped()) outcome.skipped.push_back(skipped.reason);
  return outcome;
}

TEST(FoldConstants, computes_what_is_constant) {
  const Outcome outcome = fold(
      "g (float[2] x) => (float[2] y) <float[2] a = {1, 2}, float[2] b = {3, 4}> "
      "{ c = Add(a, b) d = Mul(c, c) y = Add(x, d) }");
  EXPECT_EQ(outcome.nodes, "Add");
  EXPECT_NE(outcome.text.find("d = {16, 36}"), std::string::npos) << outcome.text;
}

TEST(FoldConstants, an_output_keeps_its_name) {
  const Outcome outcome = fold("g () => (float[1] y) <float[1] a = {2}> { b = Neg(a) y = Exp(b) }");
  EXPECT_EQ(outcome.nodes, "");
  EXPECT_NE(outcome.text.find("y = {0.135335"), std::string::npos) << outcome.text;
}

TEST(FoldConstants, constant_nodes_become_initializers) {
  EXPECT_EQ(fold("g (float[1] x) => (float[1] y) { c = Constant <value_float = 1.0> () y = Add(x, c) }").nodes, "Add");
}

TEST(FoldConstants, leaves_what_is_random) {
  const Outcome outcome = fold("g () => (float[2] y) { r = RandomNormal <shape = [2]> () y = Neg(r) }");
  EXPECT_EQ(outcome.nodes, "RandomNormal Neg");
  EXPECT_EQ(outcome.skipped, (std::vector<std::string>{"its result is random"}));
}

TEST(FoldConstants, leaves_random_nodes_in_bodies) {
  const Outcome outcome = fold(
      "g () => (float[2] y) <bool c = {1}> { y = If (c) <"
      "then_branch = t () => (float[2] a) { a = RandomNormal <shape = [2]> () }, "
      "else_branch = e () => (float[2] b) <float[2] b = {1, 2}> {}> }");
  EXPECT_NE(outcome.text.find("RandomNormal"), std::string::npos) << outcome.text;
}

TEST(FoldConstants, leaves_quantisation) {
  const std::string model =
      "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}, float s = {0.5}, int8 z = {0}> "
      "{ q = QuantizeLinear(w, s, z) d = DequantizeLinear(q, s, z) y = Add(x, d) }";
  EXPECT_EQ(fold(model).nodes, "QuantizeLinear DequantizeLinear Add");
  Options options;
  options.of<FoldOptions>().quantises = true;
  EXPECT_EQ(fold(model, options).nodes, "DequantizeLinear Add");
}

// No node gives much more than it takes.
TEST(FoldConstants, does_not_grow_without_end) {
  std::string text = "g () => (float[n] a26) <float[2] a0 = {1, 2}> {";
  for (int i = 0; i < 26; ++i) text += fmt::format(" a{1} = Concat<axis = 0>(a{0}, a{0})", i, i + 1);
  const Outcome outcome = fold(text + " }");
  EXPECT_NE(outcome.nodes.find("Concat"), std::string::npos);
  ASSERT_FALSE(outcome.skipped.empty());
  EXPECT_NE(outcome.skipped[0].find("much more than"), std::string::npos) << outcome.skipped[0];
}

TEST(FoldConstants, leaves_results_that_are_much_larger) {
  const std::string model =
      "g (float[N] x) => (float[1000000] y) <int64[1] n = {1000000}> { z = ConstantOfShape(n) y = Add(x, z) }";
  const Outcome left = fold(model);
  EXPECT_EQ(left.nodes, "ConstantOfShape Add");
  EXPECT_EQ(left.skipped.size(), 1u);
  Options options;
  options.of<FoldOptions>().size_threshold_bytes = 4'000'000;
  EXPECT_EQ(fold(model, options).nodes, "Add");
  options.of<FoldOptions>().size_threshold_bytes = 3'999'999;
  EXPECT_EQ(fold(model, options).nodes, "ConstantOfShape Add");
}

TEST(FoldConstants, what_cannot_be_computed_does_not_stop_others) {
  const Outcome outcome = fold(
      "g (float[2] x) => (float[2] y, float[2] z) <float[2] a = {1, 2}, float[3] b = {1, 2, 3}> "
      "{ bad = Add(a, b) y = Add(x, bad) good = Add(a, a) z = Add(x, good) }");
  EXPECT_EQ(outcome.nodes, "Add Add Add");
  EXPECT_EQ(outcome.skipped.size(), 1u);
}

TEST(FoldConstants, folds_in_bodies_and_keeps_what_they_capture) {
  const Outcome outcome = fold(
      "g (bool c, float[1] x) => (float[1] y) <float[1] a = {2}> { k = Neg(a) y = If (c) <"
      "then_branch = t () => (float[1] p) { q = Exp(k) p = Mul(x, q) }, "
      "else_branch = e () => (float[1] r) { r = Mul(x, k) }> }");
  EXPECT_EQ(outcome.nodes, "If");
  EXPECT_EQ(outcome.text.find("Exp"), std::string::npos) << outcome.text;
  EXPECT_EQ(outcome.text.find("Neg"), std::string::npos) << outcome.text;
}

TEST(FoldConstants, folds_in_functions_but_not_what_a_call_binds) {
  const Outcome outcome = fold(
      "<ir_version: 10, opset_import: [\"\" : 21, \"f\" : 1]> g (float[2] x) => (float[2] y) { y = f.shift <by = 3.0> "
      "(x) }"
      "<domain: \"f\", opset_import: [\"\" : 21]> shift <by> (a) => (b) {"
      " c = Constant <value_float = 2.0> () d = Neg(c) e = Constant <value_float: float = @by> ()"
      " g = Add(d, e) b = Add(a, g) }");
  EXPECT_EQ(outcome.text.find("Neg"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("@by"), std::string::npos) << outcome.text;
}

TEST(FoldConstants, can_stop_after_any_step) {
  const std::string model =
      "g (float[2] x) => (float[2] y) <float[2] a = {1, 2}> { b = Add(a, a) c = Mul(b, b) y = Add(x, c) }";
  EXPECT_EQ(fold(model, {}, 0).nodes, "Add Mul Add");
  EXPECT_EQ(fold(model, {}, 1).nodes, "Add Add");
  EXPECT_EQ(fold(model, {}, 2).nodes, "Add");
}

TEST(SimplifyShapes, folds_what_known_dims_give) {
  const Outcome outcome =
      fold("g (float[N, 3, 4] x) => (int64[1] y) { s = Shape(x) i = Constant <value_ints = [1]> () y = Gather(s, i) }");
  EXPECT_EQ(outcome.nodes, "");
}

TEST(SimplifyShapes, respects_the_attributes_of_shape) {
  const Outcome outcome = fold("g (float[2, 3, 5, 7] x) => (int64[2] y) { y = Shape <start = 1, end = 3> (x) }");
  EXPECT_NE(outcome.text.find("y = {3, 5}"), std::string::npos) << outcome.text;
}

TEST(SimplifyShapes, leaves_dims_that_a_run_decides) {
  EXPECT_EQ(fold("g (float[N, 3] x) => (int64[2] y) { y = Shape(x) }").nodes, "Shape");
}

TEST(SimplifyShapes, a_reshape_copies_dims_that_it_keeps) {
  const Outcome outcome = fold(
      "g (float[N, S, 8] x) => (float[N, S, 2, 4] y) <int64[2] h = {2, 4}, int64[1] b = {0}, int64[1] e = {2}> "
      "{ s = Shape(x) k = Slice(s, b, e) t = Concat <axis = 0> (k, h) y = Reshape(x, t) }");
  EXPECT_EQ(outcome.nodes, "Reshape");
  EXPECT_NE(outcome.text.find("{0, 0, 2, 4}"), std::string::npos) << outcome.text;
}

TEST(SimplifyShapes, does_not_mix_copied_and_inferred_dims) {
  // With N = 0 in a run, [0, -1, 4] could not be inferred, [N, 2*S, 4] can.
  const Outcome outcome = fold(
      "g (float[N, S, 8] x) => (float[A, B, 4] y) <int64 zero = {0}, int64 one = {1}, int64[1] two = {2}, "
      "int64[1] four = {4}, int64[1] axes = {0}> "
      "{ s = Shape(x) n = Gather(s, zero) m = Gather(s, one) nn = Unsqueeze(n, axes) mm = Unsqueeze(m, axes) "
      "k = Mul(mm, two) t = Concat <axis = 0> (nn, k, four) y = Reshape(x, t) }");
  EXPECT_NE(outcome.nodes.find("Concat Reshape"), std::string::npos) << outcome.nodes;
}

TEST(SimplifyShapes, does_not_believe_a_stale_declaration) {
  // The batch was made dynamic at the input; the value between still says 1.
  const Outcome outcome = fold("g (float[N, 3] x) => (int64[2] y) <float[1, 3] t> { t = Relu(x) y = Shape(t) }");
  EXPECT_EQ(outcome.nodes, "Relu Shape");
}

TEST(Sort, puts_nodes_behind_what_they_need) {
  Diagnostics findings;
  ir::Model model = onnx::parse_text(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[1] x) => (float[1] y) "
      "{ y = Exp(b) a = Relu(x) b = Neg(a) c = Abs(x) }",
      findings);
  ir::Rewriter rewriter(model);
  Pipeline pipeline(model, rewriter, {});
  constexpr std::array<std::string_view, 1> kSort = {"sort"};
  EXPECT_EQ(pipeline.run(kSort), 1u);
  EXPECT_EQ(operators(model), "Relu Neg Exp Abs");
  EXPECT_EQ(pipeline.run(kSort), 0u);
  ir::check_structure(model);
}

TEST(Sort, minds_what_bodies_capture) {
  Diagnostics findings;
  ir::Model model = onnx::parse_text(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (bool c, float[1] x) => (float[1] y) { y = If (c) <"
      "then_branch = t () => (float[1] p) { p = Exp(k) }, else_branch = e () => (float[1] r) { r = Neg(k) }> "
      "k = Relu(x) }",
      findings);
  ir::Rewriter rewriter(model);
  constexpr std::array<std::string_view, 1> kSort = {"sort"};
  Pipeline(model, rewriter, {}).run(kSort);
  EXPECT_EQ(operators(model), "Relu If");
}

TEST(Sort, names_the_nodes_of_a_cycle) {
  Diagnostics findings;
  ir::Model model = onnx::parse_text(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[1] x) => (float[1] y) { y = Exp(b) a = Add(x, b) b = "
      "Neg(a) }",
      findings);
  ir::Rewriter rewriter(model);
  constexpr std::array<std::string_view, 1> kSort = {"sort"};
  EXPECT_THROW(Pipeline(model, rewriter, {}).run(kSort), Error);
}

TEST(RemoveDead, removes_chains_bodies_and_weights) {
  ir::Model model = parsed(
      "g (float[1] x, float[1] unused) => (float[1] y) <float[1] w = {1}, float[1] v = {2}> "
      "{ y = Add(x, w) a = Mul(x, v) b = Neg(a) }");
  ir::Rewriter rewriter(model);
  Pipeline pipeline(model, rewriter, {});
  EXPECT_EQ(pipeline.run(cleanup_passes()), 3u);
  EXPECT_EQ(operators(model), "Add");
  EXPECT_EQ(model[model.main_graph()].initializers.size(), 1u);
  EXPECT_EQ(model[model.main_graph()].inputs.size(), 2u);
}

}  // namespace
}  // namespace assay::passes
