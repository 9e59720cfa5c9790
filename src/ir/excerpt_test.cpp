#include "ir/excerpt.h"

#include <array>

#include <gtest/gtest.h>

#include "ir/verify.h"
#include "support/pass_checks.h"

namespace assay::ir {
namespace {

using testing_support::nodes_text;
using testing_support::parsed;
using testing_support::value_named;

constexpr std::string_view kModel =
    "<ir_version: 10, opset_import: [\"\" : 21, \"own\" : 1]> "
    "g (bool c, float[N,2] x) => (y, z) <float[2] w = {1,2}> { o = own.twice(x) [first] a = Add(o, w) y = If(c) "
    "<then_branch = t () => (u) <float[1] v = {3}> { u = Mul(a, v) }, "
    "else_branch = e () => (s) { s = Concat<axis = 0>(o, x) }> z = Neg(a) }"
    "<domain: \"own\", opset_import: [\"\" : 21]> twice (i) => (r) { r = Add(i, i) }";

std::vector<NodeId> nodes_of(const Model& model, GraphId graph) {
  std::vector<NodeId> found;
  for (const NodeId node : nodes(model, graph)) found.push_back(node);
  return found;
}

void expect_sound(const Model& model) {
  check_structure(model);
  Diagnostics findings;
  verify(model, findings);
  EXPECT_TRUE(findings.empty());
}

TEST(Excerpt, HasFunctionsBodiesAndConstants) {
  const Model model = parsed(std::string(kModel));
  std::vector<NodeId> all = nodes_of(model, model.main_graph());
  all.pop_back();
  const std::vector<ValueId> outer = outer_values(model, all);
  EXPECT_EQ(outer, (std::vector{value_named(model, "x"), value_named(model, "c")}));
  const Model made = make_excerpt(
      model,
      {.nodes = all, .inputs = outer, .outputs = {value_named(model, "y"), value_named(model, "a")}, .constants = {}});
  expect_sound(made);
  EXPECT_EQ(made.functions().size(), 1u);
  const std::string text = nodes_text(made);
  EXPECT_NE(text.find("[first] a = Add (o, w)"), std::string::npos) << text;
  EXPECT_NE(text.find("u = Mul (a, v)"), std::string::npos) << text;
  EXPECT_NE(text.find("s = Concat"), std::string::npos) << text;
  const TensorId w = model[value_named(model, "w")].constant;
  EXPECT_EQ(made[made[value_named(made, "w")].constant].tensor.storage(), model[w].tensor.storage());
}

TEST(Excerpt, OfABodyTakesWhatIsAroundIt) {
  const Model model = parsed(std::string(kModel));
  const NodeId chosen = model[value_named(model, "y")].producer;
  const GraphId body = model.bodies(model[chosen])[0];
  const std::vector<NodeId> inside = nodes_of(model, body);
  EXPECT_EQ(outer_values(model, inside), std::vector{value_named(model, "a")});
  const tensor::Tensor a = tensor::make_tensor<float>(tensor::DType::float32, {2}, std::array{1.0F, 2.0F});
  const Model made = make_excerpt(model, {.nodes = inside,
                                          .inputs = {},
                                          .outputs = {model.outputs(body)[0].value},
                                          .constants = {{value_named(model, "a"), a}}});
  expect_sound(made);
  EXPECT_EQ(nodes_text(made), "u = Mul (a, v)");
  EXPECT_EQ(made[made[value_named(made, "a")].constant].tensor.storage(), a.storage());
}

}  // namespace
}  // namespace assay::ir
