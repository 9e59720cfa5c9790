#include "surgery/plugin/replace.h"

#include <gtest/gtest.h>

#include "ir/verify.h"
#include "onnx/text.h"
#include "support/model_checks.h"
#include "support/parsed_model.h"

namespace assay::surgery {
namespace {

using results::PluginInstance;
using results::PluginMatches;
using testing_support::parsed;

// The nodes as `op(operands)`, then the number of initializers, then why instances were left.
std::string replaced(std::string_view graph, std::vector<PluginInstance> instances) {
  ir::Model model = parsed(std::string(graph));
  const Replacement done =
      replace_instances(model, {.name = "p", .op = "P", .domain = "own", .instances = std::move(instances)});
  ir::check_structure(model);
  std::string text;
  for (const ir::NodeId id : ir::nodes(model, model.main_graph())) {
    const ir::Node& node = model[id];
    text += std::string(model.text(node.op)) + "(";
    for (const ir::Use& use : node.operands) text += std::string(model.text(model[use.value].name)) + " ";
    text += ")";
  }
  text += fmt::format(" {}", model[model.main_graph()].initializers.size());
  for (const std::string& line : done.skipped) text += " | " + line;
  return text;
}

constexpr std::string_view kChain =
    "g (float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}> {\n"
    "  a = Mul(x, w)\n  b = Relu(a)\n  c = Abs(b)\n  y = Neg(c)\n}";

TEST(Replace, puts_one_node_for_many) {
  EXPECT_EQ(replaced(kChain, {{{"x"}, {"c"}, {}}}), "P(x )Neg(c ) 0");
  EXPECT_EQ(replaced(kChain, {{{"a"}, {"y"}, {}}}), "Mul(x w )P(a ) 1");
}

TEST(Replace, leaves_what_overlaps_or_is_gone) {
  EXPECT_EQ(replaced(kChain, {{{"x"}, {"b"}, {}}, {{"a"}, {"c"}, {}}}),
            "P(x )Abs(b )Neg(c ) 0 | instance 1 of `p` (`c`): `a` is not in the main graph; another replacement may "
            "have taken it");
  EXPECT_EQ(replaced(kChain, {{{"q"}, {"b"}, {}}}).substr(0, 34), "Mul(x w )Relu(a )Abs(b )Neg(c ) 1 ");
}

TEST(Replace, leaves_what_gives_nothing) {
  EXPECT_EQ(replaced(kChain, {{{"x"}, {""}, {}}}),
            "Mul(x w )Relu(a )Abs(b )Neg(c ) 1 | instance 0 of `p` (``): it names no output");
  EXPECT_EQ(replaced(kChain, {{}}), replaced(kChain, {{{"x"}, {""}, {}}}));
}

TEST(Replace, leaves_what_needs_more_than_its_inputs) {
  EXPECT_EQ(
      replaced("g (float[4] x, float[4] z) => (float[4] y) {\n  a = Mul(x, z)\n  y = Relu(a)\n}", {{{"x"}, {"y"}, {}}}),
      "Mul(x z )Relu(a ) 0 | instance 0 of `p` (`y`): it needs `z`, which is not among its inputs");
}

TEST(Replace, leaves_what_would_stand_on_a_cycle) {
  const std::string_view graph = "g (float[4] x) => (float[4] y) {\n  a = Relu(x)\n  b = Abs(a)\n  y = Mul(a, b)\n}";
  EXPECT_EQ(replaced(graph, {{{"x", "b"}, {"a", "y"}, {}}}),
            "Relu(x )Abs(a )Mul(a b ) 0 | instance 0 of `p` (`a`): an input depends on an output: the node would be "
            "part of a cycle");
}

TEST(Replace, keeps_types_and_imports_the_domain) {
  ir::Model model = parsed(std::string(kChain));
  replace_instances(model, {.name = "p", .op = "P", .domain = "own", .instances = {{{"x"}, {"y"}, {}}}});
  EXPECT_EQ(model.header().opset_imports.size(), 2u);
  const ir::ValueId output = model.outputs(model.main_graph())[0].value;
  EXPECT_EQ(model.text(model[output].name), "y");
  EXPECT_TRUE(model[output].type.valid());
}

}  // namespace
}  // namespace assay::surgery
