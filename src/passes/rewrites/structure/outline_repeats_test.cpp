#include <gtest/gtest.h>

#include "passes/outline/outline_options.h"
#include "support/pass_checks.h"
#include "support/reference_outputs.h"

namespace assay::passes {
namespace {

using testing_support::reference_outputs;
using testing_support::rewritten;
using testing_support::Rewritten;

constexpr std::string_view kPass = "outline-repeats";

// Layers that take the value of the one before, with a weight of their own.
std::string model_of(const std::vector<std::string>& layers) {
  std::string weights = "float[2] x0 = {0.5, -1}", nodes;
  for (size_t i = 0; i < layers.size(); ++i) {
    weights += fmt::format(", float[2] w{} = {{{}, 2}}", i, i + 1);
    for (const char letter : layers[i]) nodes += letter == '#' ? std::to_string(i) : std::string(1, letter);
    nodes += fmt::format(" x{} = Identity(t{}) ", i + 1, i);
  }
  return fmt::format("<ir_version: 7, opset_import: [\"\" : 13]> g () => (float[2] x{}) <{}> {{ {} }}", layers.size(),
                     weights, nodes);
}

constexpr std::string_view kLayer = "a# = Mul(x#, w#) b# = Relu(a#) c# = LeakyRelu<alpha = 0.5>(b#) t# = Add(c#, w#)";
constexpr std::string_view kOther = "a# = Mul(x#, w#) b# = Relu(a#) c# = LeakyRelu<alpha = 0.25>(b#) t# = Add(c#, w#)";
// The wiring differs: Add takes another value.
constexpr std::string_view kCrossed = "a# = Mul(x#, w#) b# = Relu(a#) c# = LeakyRelu<alpha = 0.5>(b#) t# = Add(a#, w#)";

std::string outlined(const std::vector<std::string>& layers) {
  const std::string text = model_of(layers);
  const Rewritten outcome = rewritten(kPass, text);
  EXPECT_EQ(reference_outputs(outcome.text), reference_outputs(text)) << outcome.text;
  const Rewritten inlined = rewritten("inline-functions", outcome.text);
  EXPECT_EQ(reference_outputs(inlined.text), reference_outputs(text));
  EXPECT_EQ(std::ranges::count(inlined.nodes, '='), std::ranges::count(rewritten("sort", text).nodes, '='));
  return outcome.nodes;
}

TEST(OutlineRepeats, layers_become_calls) {
  const std::string layer(kLayer);
  EXPECT_EQ(outlined({layer, layer, layer}),
            "x1 = assay.outlined.repeat_0 (x0, w0); x2 = assay.outlined.repeat_0 (x1, w1); "
            "x3 = assay.outlined.repeat_0 (x2, w2)");
}

TEST(OutlineRepeats, attributes_make_a_difference) {
  const std::string layer(kLayer), other(kOther);
  EXPECT_EQ(outlined({layer, other}).find("repeat"), std::string::npos);
  EXPECT_NE(outlined({layer, other, layer, other}).find("repeat_0"), std::string::npos);
}

TEST(OutlineRepeats, so_does_the_wiring) {
  const std::string layer(kLayer), crossed(kCrossed);
  EXPECT_EQ(outlined({layer, crossed}).find("repeat"), std::string::npos);
}

TEST(OutlineRepeats, what_lies_between_stays) {
  const std::string layer(kLayer);
  const std::string nodes = outlined({layer, "t# = Exp(x#)", layer});
  EXPECT_NE(nodes.find("repeat_0 (x0, w0)"), std::string::npos) << nodes;
  EXPECT_NE(nodes.find("repeat_0 (x2, w2)"), std::string::npos) << nodes;
}

TEST(OutlineRepeats, one_value_may_be_two_operands_of_the_first_occurrence) {
  const std::string text = R"(<ir_version: 7, opset_import: ["" : 13]> g () => (float[2] y)
    <float[2] x = {0.5, -1}, float[2] v = {2, 3}, float[2] w = {4, 5}>
    { a = Mul(x, v)  b = Relu(a)  c = LeakyRelu<alpha = 0.5>(b)  t = Add(c, x)
      d = Mul(t, w)  e = Relu(d)  f = LeakyRelu<alpha = 0.5>(e)  y = Add(f, x) })";
  const Rewritten outcome = rewritten(kPass, text);
  EXPECT_EQ(outcome.nodes, "t = assay.outlined.repeat_0 (x, v); y = assay.outlined.repeat_0 (t, w)");
  EXPECT_EQ(reference_outputs(outcome.text), reference_outputs(text)) << outcome.text;
}

TEST(OutlineRepeats, values_that_others_need_are_outputs) {
  const std::string text =
      "<ir_version: 7, opset_import: [\"\" : 13]> g () => (float[1] y, float[1] b0) <float[1] x = {3}> "
      "{ a0 = Neg(x) b0 = Exp(a0) c0 = Relu(b0) d0 = Abs(c0) a1 = Neg(d0) b1 = Exp(a1) c1 = Relu(b1) y = Abs(c1) }";
  const Rewritten outcome = rewritten(kPass, text);
  EXPECT_EQ(reference_outputs(outcome.text), reference_outputs(text));
  EXPECT_EQ(outcome.nodes, "b0, d0 = assay.outlined.repeat_0 (x); b1, y = assay.outlined.repeat_0 (d0)");
}

TEST(OutlineRepeats, common_constants_go_into_the_function) {
  const std::string text =
      "<ir_version: 7, opset_import: [\"\" : 13]> g () => (float[1] y) <float[1] x = {3}, float[1] k = {2}, "
      "float[1] l = {2}> { a0 = Mul(x, k) b0 = Exp(a0) c0 = Relu(b0) d0 = Abs(c0) "
      "a1 = Mul(d0, l) b1 = Exp(a1) c1 = Relu(b1) y = Abs(c1) }";
  const Rewritten outcome = rewritten(kPass, text);
  EXPECT_EQ(reference_outputs(outcome.text), reference_outputs(text));
  EXPECT_EQ(outcome.nodes, "d0 = assay.outlined.repeat_0 (x); y = assay.outlined.repeat_0 (d0)");
}

TEST(OutlineRepeats, keeps_to_its_limits) {
  const std::string layer(kLayer);
  Options options;
  options.of<OutlineOptions>().least_nodes = 6;
  EXPECT_EQ(rewritten(kPass, model_of({layer, layer}), options).steps, 0u);
  options.of<OutlineOptions>() = {.least_nodes = 4, .least_count = 3};
  EXPECT_EQ(rewritten(kPass, model_of({layer, layer}), options).steps, 0u);
}

}  // namespace
}  // namespace assay::passes
