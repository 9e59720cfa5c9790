#include "surgery/extract.h"

#include <gtest/gtest.h>

#include "onnx/text.h"
#include "support/model_checks.h"
#include "support/parsed_model.h"

namespace assay::surgery {
namespace {

using testing_support::error_of;
using testing_support::parsed;

std::vector<Boundary> named(const std::vector<std::string>& names) {
  std::vector<Boundary> boundaries;
  for (const std::string& name : names) boundaries.push_back({name, {}, {}});
  return boundaries;
}

constexpr std::string_view kChain =
    "g (float[1,4] x, float[1,4] z) => (float[1,4] y)\n"
    "<float[4] w = {1, 2, 3, 4}, float[1,4] a, float[1,4] b> {\n"
    "  a = Add(x, w)\n  b = Relu(a)\n  y = Mul(b, z)\n}";

// The graph that is left, as text.
std::string extracted(std::string_view graph, const Extraction& extraction) {
  ir::Model model = parsed(std::string(graph));
  Diagnostics findings;
  extract(model, extraction, findings);
  ir::check_structure(model);
  const std::string text = onnx::to_text(model);
  return text.substr(text.find("g ("));
}

std::string extract_refusal(std::string_view graph, const Extraction& extraction) {
  ir::Model model = parsed(std::string(graph));
  Diagnostics findings;
  const std::optional<Error> error = error_of([&] { extract(model, extraction, findings); });
  return error ? error->line() : "no error";
}

TEST(Extract, nothing_asked_for_changes_nothing) {
  ir::Model model = parsed(std::string(kChain));
  const std::string before = onnx::to_text(model);
  Diagnostics findings;
  extract(model, {}, findings);
  EXPECT_EQ(onnx::to_text(model), before);
  EXPECT_TRUE(findings.empty());
}

TEST(Extract, cuts_before_and_behind) {
  const std::string text = extracted(kChain, {named({"a"}), named({"b"})});
  EXPECT_NE(text.find("(float[1,4] a) => (float[1,4] b)"), std::string::npos) << text;
  EXPECT_EQ(text.find("Add"), std::string::npos) << text;
  EXPECT_EQ(text.find("Mul"), std::string::npos) << text;
  EXPECT_EQ(text.find(" w "), std::string::npos) << text;
}

// Two ways from x and m to y past b: r and n; k follows from r.
constexpr std::string_view kResidual =
    "g (float[4] x, float[4] m) => (float[4] y) <float[4] r, float[4] b, float[4] d, float[4] n> {\n"
    "  r = Relu(x)\n  a = Exp(r)\n  b = Neg(a)\n  k = Abs(r)\n  c = Add(b, r)\n  d = Add(c, k)\n"
    "  n = Sin(m)\n  y = Mul(d, n)\n}";

TEST(Extract, says_what_completes_the_cut) {
  EXPECT_EQ(extract_refusal(kResidual, {named({"b"}), {}}),
            "the outputs need `x`, `m` besides the given inputs; add them, or `r`, `n`, which complete the "
            "cut");
  EXPECT_EQ(extract_refusal(kResidual, {named({"b", "m"}), {}}),
            "the outputs need `x` besides the given inputs; add it, or `r`, which completes the cut");
  const std::string text = extracted(kResidual, {named({"b", "r", "n"}), {}});
  EXPECT_NE(text.find("(float[4] b, float[4] r, float[4] n) => (float[4] y)"), std::string::npos) << text;
}

TEST(Extract, says_which_outputs_run_past_the_inputs) {
  EXPECT_EQ(extract_refusal(kResidual, {named({"b"}), named({"d", "n"})}),
            "the outputs need `x`, `m` besides the given inputs; add them (`n` depends on none of the given "
            "inputs)");
}

TEST(Extract, inputs_stand_in_the_order_given) {
  const std::string text = extracted(kChain, {named({"z", "b"}), {}});
  EXPECT_NE(text.find("(float[1,4] z, float[1,4] b)"), std::string::npos) << text;
}

TEST(Extract, outputs_alone_drop_the_inputs_that_they_do_not_need) {
  const std::string text = extracted(kChain, {{}, named({"a"})});
  EXPECT_NE(text.find("(float[1,4] x) => (float[1,4] a)"), std::string::npos) << text;
}

TEST(Extract, a_weight_can_become_an_input) {
  const std::string text = extracted(kChain, {named({"x", "w"}), named({"a"})});
  EXPECT_NE(text.find("(float[1,4] x, float[4] w)"), std::string::npos) << text;
}

TEST(Extract, what_else_a_producer_gives_stays) {
  const std::string text = extracted(
      "g (float[4] x) => (float[4] y) <float[2] a, float[2] b> {\n  a, b = Split<num_outputs = 2>(x)\n"
      "  y = Concat<axis = 0>(a, b)\n}",
      {named({"x", "a"}), {}});
  EXPECT_NE(text.find("a_detached, b = Split"), std::string::npos) << text;
  EXPECT_NE(text.find("Concat <axis: int = 0> (a, b)"), std::string::npos) << text;
}

TEST(Extract, bodies_keep_what_they_capture) {
  constexpr std::string_view graph =
      "g (bool c, float[2] x) => (float[2] y) <float[2] a> {\n  a = Relu(x)\n"
      "  y = If<then_branch = t () => (float[2] p) { p = Neg(a) }, else_branch = e () => (float[2] q) { q = Abs(a) "
      "}>(c)\n}";
  EXPECT_EQ(extract_refusal(graph, {named({"c"}), {}}),
            "the outputs need `x` besides the given inputs; add it, or `a`, which completes the cut");
  const std::string text = extracted(graph, {named({"c", "a"}), {}});
  EXPECT_NE(text.find("(bool c, float[2] a)"), std::string::npos) << text;
  EXPECT_EQ(text.find("Relu"), std::string::npos) << text;
  EXPECT_EQ(extract_refusal(graph, {named({"p"}), {}}),
            "`p` is in a body of the If node of `y`; expected a value of the main graph");
}

TEST(Extract, a_nodes_name_means_its_result) {
  ir::Model model = parsed("g (float[4] x) => (float[4] y) { [first] a = Relu(x)  [second] y = Neg(a) }");
  Diagnostics findings;
  extract(model, {.inputs = {}, .outputs = named({"first"})}, findings);
  EXPECT_EQ(model.text(model[model.outputs(model.main_graph())[0].value].name), "a");
  EXPECT_EQ(
      extract_refusal("g (float[4] x) => (float[2] y, float[2] z) { [cut] y, z = Split(x) }", {{}, named({"cut"})}),
      "`cut` is a node; expected one of its results: `y`, `z`");
}

TEST(Extract, refuses_what_cannot_be) {
  EXPECT_EQ(extract_refusal(kChain, {named({"b"}), {}}), "the outputs need `z` besides the given inputs; add it");
  EXPECT_EQ(extract_refusal(kChain, {named({"nope"}), {}}), "the model has no value `nope`");
  EXPECT_EQ(extract_refusal(kChain, {{}, named({"y", "y"})}), "`y` is named twice");
  EXPECT_EQ(extract_refusal(kChain, {named({"a", "b", "z"}), {}}),
            "no output depends on `a`: this extraction cuts no path");
  EXPECT_EQ(extract_refusal(kChain, {{{"a", tensor::DType::int64, {}}, {"z", {}, {}}}, {}}),
            "`a` is float32 in the model, int64 was requested; expected the same type or `auto`");
}

TEST(Extract, given_shapes_win_and_what_follows_is_inferred_anew) {
  ir::Model model = parsed(std::string(kChain));
  Diagnostics findings;
  Boundary a{"a", {}, std::vector<BoundaryDim>{std::string("n"), std::monostate(), int64_t{4}}};
  extract(model, {{a}, named({"b"})}, findings);
  const std::string text = onnx::to_text(model);
  EXPECT_NE(text.find("(float[n,?,4] a) => (float[n,"), std::string::npos) << text;
  ASSERT_EQ(findings.all().size(), 1u);
  EXPECT_EQ(findings.all()[0].message, "`a` gets the shape [n, ?, 4], which contradicts [1, 4] in the model");
}

TEST(Extract, an_input_that_is_not_needed_stays_with_a_warning) {
  ir::Model model = parsed(std::string(kChain));
  Diagnostics findings;
  extract(model, {named({"x", "z"}), named({"b"})}, findings);
  EXPECT_EQ(model[model.main_graph()].inputs.size(), 2u);
  ASSERT_EQ(findings.all().size(), 1u);
  EXPECT_EQ(findings.all()[0].message, "no output depends on the input `z`");
}

TEST(Extract, puts_what_is_cut_out_in_order) {
  Diagnostics findings;
  ir::Model model = onnx::parse_text(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[1] x) => (float[1] y) { y = Neg(b) b = Exp(a) a = Relu(x) "
      "}",
      findings);
  extract(model, {{{"a", tensor::DType::float32, std::vector<BoundaryDim>{int64_t{1}}}}, named({"y"})}, findings);
  const ir::NodeId first = model[model.main_graph()].first;
  EXPECT_EQ(model.text(model[first].op), "Exp");
  EXPECT_EQ(model[model.main_graph()].node_count, 2u);
}

TEST(Extract, tells_what_is_open) {
  const ir::Model model = parsed("g (float[1] x) => (float[1] y) { a = Relu(x)\n y = Neg(a) }");
  EXPECT_TRUE(is_open(model, {named({"a"}), {}}));
  EXPECT_FALSE(is_open(model, {{{"a", tensor::DType::float32, std::vector<BoundaryDim>{int64_t{1}}}}, {}}));
  EXPECT_FALSE(is_open(model, {named({"x"}), named({"y"})}));
}

}  // namespace
}  // namespace assay::surgery
