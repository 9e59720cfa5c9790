#include "surgery/pattern/match.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "support/model_checks.h"
#include "support/parsed_model.h"
#include "surgery/pattern/pattern_file.h"

namespace assay::surgery {
namespace {

using testing_support::error_of;
using testing_support::parsed;

// `inputs->outputs {attribute names}` of each match, separated by blanks.
std::string matches(std::string_view graph, std::string_view pattern) {
  const ir::Model model = parsed(std::string(graph));
  const PluginPattern plugin = parse_pattern_file("op: P\n" + std::string(pattern), "p");
  std::string text;
  for (const Match& match : find_matches(model, plugin.pattern)) {
    const results::PluginInstance instance = instance_of(model, plugin.pattern, match);
    text += text.empty() ? "" : " ";
    text += join(instance.inputs, ",") + "->" + join(instance.outputs, ",");
    for (const results::NamedAttribute& attribute : instance.attributes) text += "{" + attribute.name + "}";
  }
  return text;
}

std::string refusal(std::string_view pattern) {
  const std::optional<Error> error = error_of([&] { parse_pattern_file("op: P\n" + std::string(pattern), "p"); });
  return error ? error->line() : "no error";
}

constexpr std::string_view kScaled =
    "inputs: [x]\nconstants: [c]\noutputs: [y]\n"
    "nodes: [{op: Mul, inputs: [x, c], outputs: [m]}, {op: [Relu, Neg], inputs: [m], outputs: [y]}]\n";

TEST(Match, finds_operands_in_either_order_and_any_of_the_operators) {
  const std::string graph =
      "g (float[4] x) => (float[4] y, float[4] z) <float[4] w = {1, 2, 3, 4}> {\n"
      "  a = Mul(w, x)\n  y = Relu(a)\n  b = Mul(y, w)\n  z = Neg(b)\n}";
  EXPECT_EQ(matches(graph, kScaled), "x->y y->z");
}

TEST(Match, inner_values_are_used_within_only) {
  const std::string head = "g (float[4] x) => (float[4] y, float[4] z) <float[4] w = {1, 2, 3, 4}> {\n";
  EXPECT_EQ(matches(head + "  a = Mul(w, x)\n  y = Relu(a)\n  z = Abs(a)\n}", kScaled), "");
  EXPECT_EQ(matches(head + "  z = Mul(w, x)\n  y = Relu(z)\n}", kScaled), "");
  EXPECT_EQ(matches(head + "  a = Mul(w, x)\n  y = Relu(a)\n  z = Abs(y)\n}", kScaled), "x->y");
}

TEST(Match, an_operand_that_is_left_out_has_no_other_order) {
  EXPECT_EQ(matches("g (float[4] x) => (float[4] y) {\n  y = Max(x)\n}",
                    "inputs: [x]\noutputs: [y]\nnodes: [{op: Max, inputs: [x, ''], outputs: [y]}]"),
            "x->y");
  EXPECT_EQ(refusal("inputs: [x]\noutputs: [y]\n"
                    "nodes: [{op: Max, inputs: [x, ''], outputs: [y], commutative: true}]"),
            "the node `Max` of the pattern is commutative and has 1 inputs, expected 2");
}

TEST(Match, a_constant_is_no_input) {
  EXPECT_EQ(matches("g (float[4] x, float[4] w) => (float[4] y) {\n  a = Mul(x, w)\n  y = Relu(a)\n}", kScaled), "");
}

TEST(Match, an_optional_node_may_be_missing) {
  const std::string_view pattern =
      "inputs: [x]\noutputs: [y]\nnodes: [{op: Abs, inputs: [x], outputs: [a]}, "
      "{op: Neg, inputs: [a], outputs: [b], optional: true}, {op: Relu, inputs: [b], outputs: [y]}]";
  EXPECT_EQ(matches("g (float[4] x) => (float[4] y) {\n  a = Abs(x)\n  b = Neg(a)\n  y = Relu(b)\n}", pattern), "x->y");
  EXPECT_EQ(matches("g (float[4] x) => (float[4] y) {\n  a = Abs(x)\n  y = Relu(a)\n}", pattern), "x->y");
  EXPECT_EQ(matches("g (float[4] x) => (float[4] y) {\n  a = Abs(x)\n  b = Exp(a)\n  y = Relu(b)\n}", pattern), "");
}

TEST(Match, an_optional_last_node_belongs_to_the_match) {
  const std::string_view pattern =
      "inputs: [x]\noutputs: [y]\nnodes: [{op: Abs, inputs: [x], outputs: [a]}, "
      "{op: Neg, inputs: [a], outputs: [y], optional: true}]";
  EXPECT_EQ(matches("g (float[4] x) => (float[4] y) {\n  a = Abs(x)\n  y = Neg(a)\n}", pattern), "x->y");
  EXPECT_EQ(matches("g (float[4] x) => (float[4] y) {\n  y = Abs(x)\n}", pattern), "x->y");
}

TEST(Match, attributes_are_judged_and_taken_over) {
  const std::string graph =
      "g (float[4] x) => (float[4] y, float[4] z) {\n"
      "  y = LeakyRelu <alpha = 0.5> (x)\n  z = LeakyRelu <alpha = 2.0> (x)\n}";
  const std::string head = "inputs: [x]\noutputs: [y]\nattributes: {slope: {from: n.alpha}}\nnodes: [{op: LeakyRelu, ";
  const auto where = [&](std::string_view rule) {
    return matches(graph, head + "name: n, inputs: [x], outputs: [y], where: {alpha: " + std::string(rule) + "}}]");
  };
  EXPECT_EQ(where("0.5"), "x->y{slope}");
  EXPECT_EQ(where("{any: [2, 3]}"), "x->z{slope}");
  EXPECT_EQ(where("{min: 0.1, max: 1}"), "x->y{slope}");
  EXPECT_EQ(where("{}"), "x->y{slope} x->z{slope}");
  EXPECT_EQ(where("{any: [7, ~]}"), "");
}

TEST(Match, several_outputs_are_found_forward) {
  const std::string_view pattern =
      "inputs: [x]\noutputs: [y, z]\nnodes: [{op: Abs, inputs: [x], outputs: [a]}, "
      "{op: Neg, inputs: [a], outputs: [y]}, {op: Relu, inputs: [a], outputs: [z]}]";
  EXPECT_EQ(
      matches("g (float[4] x) => (float[4] y, float[4] z) {\n  a = Abs(x)\n  y = Relu(a)\n  z = Neg(a)\n}", pattern),
      "x->z,y");
}

TEST(Match, chains_that_commute_end) {
  std::string graph = "g (float[4] x0) => (float[4] y) {\n";
  std::string pattern = "inputs: [v0]\noutputs: [y]\nnodes:\n";
  for (int i = 0; i < 40; ++i) {
    graph += fmt::format("  x{} = Add(x{}, x{})\n", i + 1, i, i);
    pattern += fmt::format("  - {{op: Add, inputs: [v{}, v{}], outputs: [v{}]}}\n", i, i, i + 1);
  }
  graph += "  z = Neg(x40)\n  y = Relu(z)\n}";
  pattern += "  - {op: Relu, inputs: [v40], outputs: [y]}\n";
  EXPECT_EQ(matches(graph, pattern), "");
}

TEST(Match, patterns_that_cannot_be_are_refused) {
  EXPECT_EQ(refusal("inputs: [x]\noutputs: [y]\nnodes: [{op: Abs, inputs: [z], outputs: [y]}]"),
            "the pattern does not define `z`; did you mean `x`?");
  EXPECT_EQ(refusal("inputs: [x]\noutputs: [x]\nnodes: [{op: Abs, inputs: [x], outputs: [y]}]"),
            "`x` is an output of the pattern, and no node of it computes it");
  EXPECT_EQ(refusal("inputs: [x, u]\noutputs: [y]\nnodes: [{op: Abs, inputs: [x], outputs: [y]}, "
                    "{op: Neg, inputs: [u], outputs: [v]}]"),
            "the node `Neg` of the pattern shares no value with the others");
  EXPECT_EQ(refusal("outputs: [y]\nnodes: [{op: Abs, input: [x], outputs: [y]}]"),
            "line 3: unknown key `input`; did you mean `inputs`?");
}

}  // namespace
}  // namespace assay::surgery
