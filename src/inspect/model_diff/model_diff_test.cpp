#include "inspect/model_diff/model_diff.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "onnx/text.h"

namespace assay::inspect {
namespace {

using results::ModelDiff;

ir::Model parse(std::string_view graph, std::string_view header = "ir_version: 8, opset_import: [\"\" : 17]") {
  Diagnostics findings;
  return onnx::parse_text(fmt::format("<{}>\n{}", header, graph), findings);
}

ModelDiff diff(std::string_view a, std::string_view b, const DiffOptions& options = {}) {
  return diff_models(parse(a), parse(b), options);
}

constexpr std::string_view kNet =
    "g (float[2,4] x) => (float[2,4] y) <float[4,4] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}>"
    "{ [one] a = MatMul(x, w) [two] b = Relu(a) [three] c = Softmax<axis = 1>(b) [four] y = Add(c, x) }";

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  const size_t at = result.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return result.replace(at, from.size(), to);
}

void expect_nodes(const ModelDiff& d, size_t added, size_t removed, size_t changed) {
  EXPECT_EQ(d.nodes.added.size(), added);
  EXPECT_EQ(d.nodes.removed.size(), removed);
  EXPECT_EQ(d.nodes.changed.size(), changed);
}

TEST(ModelDiff, a_model_equals_itself) {
  const ModelDiff d = diff(kNet, kNet);
  EXPECT_TRUE(d.equal);
  EXPECT_EQ(d.weights.compared_count, 1u);
  EXPECT_FALSE(d.same_bytes);
}

TEST(ModelDiff, an_attribute) {
  const ModelDiff d = diff(kNet, replaced(kNet, "axis = 1", "axis = 0"));
  EXPECT_FALSE(d.equal);
  expect_nodes(d, 0, 0, 1);
  EXPECT_EQ(d.nodes.changed[0].node, "node `three` (Softmax)");
  ASSERT_EQ(d.nodes.changed[0].changes.size(), 1u);
  EXPECT_EQ(d.nodes.changed[0].changes[0].what, "attribute `axis`");
  EXPECT_EQ(d.nodes.changed[0].changes[0].before, "1");
  EXPECT_EQ(d.nodes.changed[0].changes[0].after, "0");
  EXPECT_EQ(d.counts.names, 0u);
}

TEST(ModelDiff, a_removed_attribute_has_no_after) {
  const ModelDiff d = diff(kNet, replaced(kNet, "Softmax<axis = 1>", "Softmax"));
  expect_nodes(d, 0, 0, 1);
  EXPECT_EQ(d.nodes.changed[0].changes[0].before, "1");
  EXPECT_EQ(d.nodes.changed[0].changes[0].after, std::nullopt);
}

TEST(ModelDiff, another_operator_at_the_same_place) {
  const ModelDiff d = diff(kNet, replaced(kNet, "Relu", "Abs"));
  expect_nodes(d, 0, 0, 1);
  EXPECT_EQ(d.nodes.changed[0].changes[0].what, "operator");
  const std::string renamed = replaced(replaced(kNet, "[two]", "[other]"), "Relu", "Abs");
  expect_nodes(diff(kNet, renamed), 0, 0, 1);
}

TEST(ModelDiff, a_weight) {
  const ModelDiff d = diff(kNet, replaced(kNet, "7,8", "7,8.5"));
  expect_nodes(d, 0, 0, 0);
  ASSERT_EQ(d.weights.changed.size(), 1u);
  EXPECT_EQ(d.weights.changed[0].distance->first_differing, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(d.weights.changed[0].distance->max_abs, 0.5);
  EXPECT_FALSE(d.equal);
  EXPECT_TRUE(diff(kNet, replaced(kNet, "7,8", "7,8.5"), {.tolerance = {.atol = 0.5}}).equal);
}

TEST(ModelDiff, another_shape_of_a_weight) {
  const std::string other =
      replaced(kNet, "float[4,4] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}", "float[4,2] w = {1,2,3,4,5,6,7,8}");
  const ModelDiff d = diff(kNet, other);
  ASSERT_EQ(d.weights.changed.size(), 1u);
  EXPECT_FALSE(d.weights.changed[0].distance.has_value());
}

TEST(ModelDiff, a_dropped_node) {
  const std::string other = replaced(replaced(kNet, "[two] b = Relu(a) ", ""), "(b)", "(a)");
  const ModelDiff d = diff(kNet, other);
  expect_nodes(d, 0, 1, 1);
  EXPECT_EQ(d.nodes.removed[0].node, "node `two` (Relu)");
  EXPECT_EQ(d.nodes.changed[0].changes[0].what, "input 0");
  EXPECT_EQ(d.nodes.changed[0].changes[0].before, "`b`");
  EXPECT_EQ(d.nodes.changed[0].changes[0].after, "`a`");
  expect_nodes(diff(other, kNet), 1, 0, 1);
}

TEST(ModelDiff, swapped_operands_are_a_change_of_wiring) {
  const ModelDiff d = diff(kNet, replaced(kNet, "Add(c, x)", "Add(x, c)"));
  expect_nodes(d, 0, 0, 1);
  EXPECT_EQ(d.nodes.changed[0].changes.size(), 2u);
}

constexpr std::string_view kRenamed =
    "g (float[2,4] x2) => (float[2,4] y2) <float[4,4] w2 = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}>"
    "{ [n1] a2 = MatMul(x2, w2) [n2] b2 = Relu(a2) [n3] c2 = Softmax<axis = 1>(b2) [n4] y2 = Add(c2, x2) }";

TEST(ModelDiff, renames_are_renames) {
  const ModelDiff d = diff(kNet, kRenamed);
  expect_nodes(d, 0, 0, 0);
  EXPECT_EQ(d.nodes.renamed.size(), 4u);
  EXPECT_EQ(d.nodes.renamed[0].name.after, "n1");
  EXPECT_EQ(d.nodes.renamed[0].results[0].after, "a2");
  EXPECT_EQ(d.weights.renamed.size(), 1u);
  EXPECT_EQ(d.inputs.renamed.size(), 1u);
  EXPECT_EQ(d.outputs.renamed.size(), 1u);
  EXPECT_FALSE(d.equal);
  EXPECT_TRUE(diff(kNet, kRenamed, {.ignore_names = true}).equal);
}

// Exporters number nodes anew, so that names say nothing.
TEST(ModelDiff, shifted_names_do_not_mislead) {
  const std::string_view a =
      "g (float[2] x) => (float[2] y) { [r0] t0 = Relu(x) [r1] t1 = Abs(t0) [r2] t2 = Relu(t1) [r3] y = Neg(t2) }";
  const std::string_view b =
      "g (float[2] x) => (float[2] y)"
      "{ [r0] t0 = Exp(x) [r1] t1 = Relu(t0) [r2] t2 = Abs(t1) [r3] t3 = Relu(t2) [r4] y = Neg(t3) }";
  const ModelDiff d = diff(a, b);
  expect_nodes(d, 1, 0, 1);
  EXPECT_EQ(d.nodes.added[0].node, "node `r0` (Exp)");
}

TEST(ModelDiff, another_order_makes_no_difference) {
  const std::string_view a = "g (float[2] x) => (float[2] y) { a = Relu(x) b = Abs(x) y = Add(a, b) }";
  const std::string_view b = "g (float[2] x) => (float[2] y) { b = Abs(x) a = Relu(x) y = Add(a, b) }";
  const ModelDiff d = diff(a, b);
  EXPECT_TRUE(d.equal);
  EXPECT_TRUE(d.nodes.reordered);
  EXPECT_FALSE(diff(a, a).nodes.reordered);
}

TEST(ModelDiff, equal_branches_keep_together) {
  const std::string_view a =
      "g (float[2] x) => (float[2] y) { a1 = Relu(x) a2 = Relu(x) b1 = Abs(a1) b2 = Abs(a2) y = Add(b1, b2) }";
  const std::string_view b =
      "g (float[2] x) => (float[2] y) { p = Relu(x) q = Relu(x) r = Abs(q) s = Abs(p) y = Add(r, s) }";
  expect_nodes(diff(a, b), 0, 0, 0);
}

// Nothing tells the twins apart, and they stand in another order.
TEST(ModelDiff, twins) {
  const std::string_view a =
      "g (float[2] x) => (float[2] y) { p = Relu(x) q = Relu(x) r = Abs(x) s = Abs(x) y = Neg(x) }";
  const std::string_view b =
      "g (float[2] x) => (float[2] y) { k = Abs(x) l = Abs(x) m = Relu(x) n = Relu(x) y = Neg(x) }";
  expect_nodes(diff(a, b), 0, 0, 0);
}

// Layers of one kind, into each of which a node is put, all numbered anew.
TEST(ModelDiff, layers_keep_their_places) {
  const auto layers = [](bool with_cast) {
    std::string nodes;
    std::string last = "x";
    int number = 0;
    const auto add = [&](std::string_view op) {
      const std::string result = fmt::format("t{}", number++);
      nodes += fmt::format("[n{}] {} = {}({}) ", number, result, op, last);
      last = result;
    };
    for (int layer = 0; layer < 8; ++layer) {
      if (with_cast) add("Floor");
      for (const std::string_view op : {"Exp", "Relu", "Relu", "Abs"}) add(op);
    }
    return fmt::format("g (float[2] x) => (float[2] y) {{ {} y = Neg({}) }}", nodes, last);
  };
  const ModelDiff d = diff(layers(false), layers(true));
  expect_nodes(d, 8, 0, 8);
  for (const results::NodeDifference& node : d.nodes.added) EXPECT_TRUE(node.node.ends_with("(Floor)")) << node.node;
  for (const results::NodeDifference& node : d.nodes.changed) EXPECT_TRUE(node.node.ends_with("(Exp)")) << node.node;
}

TEST(ModelDiff, what_has_nothing_in_common_is_not_paired) {
  expect_nodes(diff("g (float[2] x) => (float[2] y) { [a] p = Relu(x) [b] y = Exp(p) }",
                    "g (float[2] x) => (float[2] y) { [c] q = Sin(x) [d] y = Cos(q) }"),
               2, 2, 0);
}

TEST(ModelDiff, inputs_and_outputs) {
  const std::string_view a = "g (float[2] x, float[2] z) => (float[2] y) { y = Add(x, z) }";
  const std::string_view b = "g (float[3] x, int64[2] k) => (float[2] y) { y = Add(x, x) }";
  const ModelDiff d = diff(a, b);
  EXPECT_EQ(d.inputs.changed.size(), 1u);
  EXPECT_EQ(d.inputs.removed[0].name, "z");
  EXPECT_EQ(d.inputs.added[0].name, "k");
  EXPECT_EQ(d.counts.inputs, 3u);
  const ModelDiff order = diff("g (float[2] x, float[2] z) => (float[2] y) { y = Add(x, z) }",
                               "g (float[2] z, float[2] x) => (float[2] y) { y = Add(x, z) }");
  EXPECT_TRUE(order.inputs.reordered);
  EXPECT_TRUE(order.inputs.renamed.empty());
  EXPECT_FALSE(order.equal);
}

TEST(ModelDiff, another_source_of_an_output) {
  const std::string_view a = "g (float[2] x) => (float[2] y, float[2] z) { y = Relu(x) z = Abs(x) }";
  const std::string_view b = "g (float[2] x) => (float[2] z, float[2] y) { z = Relu(x) y = Abs(x) }";
  const ModelDiff d = diff(a, b);
  EXPECT_EQ(d.outputs.rewired.size() + d.nodes.changed.size(), 2u);
  EXPECT_FALSE(d.equal);
}

TEST(ModelDiff, header) {
  const std::string_view graph = "g (float[2] x) => (float[2] y) { y = Relu(x) }";
  const std::string_view after =
      "ir_version: 9, opset_import: [\"\" : 18, \"com.foo\" : 1], producer_name: \"p\", metadata_props: [\"k\" : "
      "\"v\"]";
  const ModelDiff d = diff_models(parse(graph), parse(graph, after), {});
  std::vector<std::string> facts;
  for (const results::FactChange& change : d.header) facts.push_back(change.what);
  EXPECT_EQ(facts, (std::vector<std::string>{"IR version", "opset `ai.onnx`", "opset `com.foo`", "producer name",
                                             "metadata `k`"}));
  EXPECT_EQ(d.header[2].before, std::nullopt);
}

TEST(ModelDiff, symbolic_dims_are_names) {
  const std::string_view a = "g (float[N] x) => (float[N] y) { y = Relu(x) }";
  const std::string_view b = "g (float[B] x) => (float[B] y) { y = Relu(x) }";
  EXPECT_EQ(diff(a, b).inputs.changed.size(), 1u);
  EXPECT_TRUE(diff(a, b, {.ignore_names = true}).equal);
}

TEST(ModelDiff, value_infos_of_one_side_only_make_no_difference) {
  const std::string_view without = "g (float[2] x) => (float[2] y) { t = Relu(x) y = Abs(t) }";
  const std::string_view two = "g (float[2] x) => (float[2] y) <float[2] t> { t = Relu(x) y = Abs(t) }";
  const std::string_view three = "g (float[2] x) => (float[2] y) <float[3] t> { t = Relu(x) y = Abs(t) }";
  EXPECT_TRUE(diff(without, two).equal);
  EXPECT_EQ(diff(without, two).value_infos.added_count, 1u);
  EXPECT_EQ(diff(two, three).value_infos.changed.size(), 1u);
  EXPECT_FALSE(diff(two, three).equal);
}

constexpr std::string_view kBranches =
    "g (float[2] x, bool c) => (float[2] y) { t = Exp(x) [choose] y = If(c)"
    "<then_branch = inner () => (float[2] p) { [in] p = Relu(t) },"
    " else_branch = inner () => (float[2] q) { q = LeakyRelu<alpha = 0.5>(t) }> }";

TEST(ModelDiff, bodies) {
  const ModelDiff d = diff(kBranches, replaced(kBranches, "alpha = 0.5", "alpha = 0.25"));
  expect_nodes(d, 0, 0, 1);
  EXPECT_EQ(d.nodes.changed[0].graph, "`else_branch` of node `choose` (If)");
  const ModelDiff added = diff(kBranches, replaced(kBranches, "p = Relu(t)", "s = Relu(t) p = Abs(s)"));
  expect_nodes(added, 1, 0, 1);
  EXPECT_EQ(added.nodes.changed[0].node, "`then_branch` of node `choose` (If)");
}

TEST(ModelDiff, captures_are_operands) {
  const ModelDiff d = diff(kBranches, replaced(kBranches, "p = Relu(t)", "p = Relu(x)"));
  expect_nodes(d, 0, 0, 1);
  EXPECT_EQ(d.nodes.changed[0].changes[0].what, "input 0");
}

TEST(ModelDiff, functions) {
  const auto with_function = [](std::string_view body, std::string_view name = "f") {
    const std::string text = fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 17, \"l\" : 1]> g (float[2] x) => (float[2] y) {{ y = l.{}(x) }}"
        "<domain: \"l\", opset_import: [\"\" : 17]> {} (a) => (b) {{ {} }}",
        name, name, body);
    Diagnostics findings;
    return onnx::parse_text(text, findings);
  };
  const ModelDiff d = diff_models(with_function("b = Relu(a)"), with_function("b = Abs(a)"), {});
  expect_nodes(d, 0, 0, 1);
  EXPECT_EQ(d.nodes.changed[0].graph, "function `l::f`");
  const ModelDiff other = diff_models(with_function("b = Relu(a)"), with_function("b = Relu(a)", "h"), {});
  EXPECT_EQ(other.functions.added, std::vector<std::string>{"l::h"});
  EXPECT_EQ(other.functions.removed, std::vector<std::string>{"l::f"});
}

TEST(ModelDiff, tensors_in_attributes_are_compared_by_value) {
  const std::string_view a = "g () => (float[2] y) { y = Constant<value = float[2] {1, 2}>() }";
  const std::string_view b = "g () => (float[2] y) { y = Constant<value = float[2] {1, 2.5}>() }";
  EXPECT_TRUE(diff(a, a).equal);
  const ModelDiff d = diff(a, b);
  expect_nodes(d, 0, 0, 1);
  EXPECT_EQ(d.nodes.changed[0].changes[0].note, "1 of 2 elements differ, max abs 0.5");
  EXPECT_TRUE(diff(a, b, {.tolerance = {.atol = 0.5}}).equal);
}

// A damaged graph is compared as far as it goes.
TEST(ModelDiff, cycles_and_undefined_names) {
  const std::string_view a = "g (float[2] x) => (float[2] y) { a = Add(x, b) b = Relu(a) y = Add(b, nowhere) }";
  EXPECT_TRUE(diff(a, a).equal);
  EXPECT_FALSE(diff(a, replaced(a, "nowhere", "elsewhere")).equal);
  expect_nodes(diff(a, replaced(a, "Relu", "Abs")), 0, 0, 1);
}

}  // namespace
}  // namespace assay::inspect
