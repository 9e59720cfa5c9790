#include "surgery/insert.h"

#include <gtest/gtest.h>

#include "onnx/text.h"
#include "support/model_checks.h"
#include "support/parsed_model.h"

namespace assay::surgery {
namespace {

using testing_support::error_of;
using testing_support::parsed;

constexpr std::string_view kTwo =
    "g (float[4] x, float[4] z) => (float[4] y, float[4] u) <float[4] a, float[4] b> {\n"
    "  a = Relu(x)\n  y = Neg(a)\n  b = Abs(z)\n  u = Sqrt(b)\n}";

Insertion between(std::vector<std::string> inputs, std::vector<std::string> outputs) {
  return {.op = "FakeOp", .inputs = std::move(inputs), .outputs = std::move(outputs)};
}

// The nodes in order: `op(operands)->results`.
std::string inserted(std::string_view graph, const Insertion& insertion) {
  ir::Model model = parsed(std::string(graph));
  Diagnostics findings;
  insert(model, insertion, findings);
  ir::check_structure(model);
  Diagnostics faults;
  ir::verify(model, faults);
  EXPECT_EQ(faults.error_count(), 0u);
  std::string text;
  for (const ir::NodeId id : ir::nodes(model, model.main_graph())) {
    const ir::Node& node = model[id];
    text += text.empty() ? "" : " ";
    text += std::string(model.text(node.op)) + "(";
    for (const ir::Use& use : node.operands) {
      text += (use.index > 0 ? "," : "") + std::string(use.value ? model.text(model[use.value].name) : "");
    }
    text += ")->" + std::string(model.text(model[node.results[0]].name));
  }
  return text;
}

std::string refusal(std::string_view graph, const Insertion& insertion) {
  ir::Model model = parsed(std::string(graph));
  Diagnostics findings;
  const std::optional<Error> error = error_of([&] { insert(model, insertion, findings); });
  return error ? error->line() : "no error";
}

TEST(Insert, behind_a_tensor) {
  EXPECT_EQ(inserted(kTwo, between({"a"}, {"a"})),
            "Relu(x)->a FakeOp(a)->a_polygraphy_surgeon_insert_output "
            "Neg(a_polygraphy_surgeon_insert_output)->y Abs(z)->b Sqrt(b)->u");
}

TEST(Insert, behind_an_input_and_behind_an_output) {
  EXPECT_EQ(inserted(kTwo, between({"x"}, {"x"})).substr(0, 48), "FakeOp(x)->x_polygraphy_surgeon_insert_output Re");
  const std::string behind = inserted(kTwo, between({"u"}, {"u"}));
  EXPECT_NE(behind.find("Sqrt(b)->u_polygraphy_surgeon_insert_output FakeOp(u_polygraphy_surgeon_insert_output)->u"),
            std::string::npos)
      << behind;
}

TEST(Insert, replaces_what_lay_between) {
  EXPECT_EQ(inserted(kTwo, between({"x", "", "a"}, {"y"})), "Relu(x)->a FakeOp(x,,a)->y Abs(z)->b Sqrt(b)->u");
  EXPECT_EQ(inserted(kTwo, between({"x"}, {"u"})), "FakeOp(x)->u Relu(x)->a Neg(a)->y");
}

TEST(Insert, moves_consumers_behind_it) {
  EXPECT_EQ(inserted(kTwo, between({"b"}, {"a"})), "Abs(z)->b FakeOp(b)->a Neg(a)->y Sqrt(b)->u");
}

TEST(Insert, refuses_cycles_and_unknown_names) {
  EXPECT_EQ(refusal(kTwo, between({"y"}, {"a"})),
            "the node would be part of a cycle: its input `y` depends on its output");
  EXPECT_EQ(refusal(kTwo, between({"a"}, {"aa"})), "the model has no value `aa`; did you mean `a`?");
  EXPECT_EQ(refusal(kTwo, between({"a"}, {"x"})),
            "`x` is an input of the graph, so no node can define it; add it to the inputs too");
  EXPECT_EQ(refusal(kTwo, between({"a"}, {"y", "y"})), "`y` is named twice");
}

TEST(Insert, keeps_types_and_writes_attributes) {
  ir::Model model = parsed(std::string(kTwo));
  Diagnostics findings;
  Insertion insertion = between({"u"}, {"u"});
  insertion.domain = "my.domain";
  insertion.attributes = {{"i", int64_t{1}}, {"f", 0.5F}, {"s", std::string("t")}, {"l", std::vector<int64_t>{1, 2}}};
  const ir::NodeId node = insert(model, insertion, findings);
  EXPECT_TRUE(findings.empty());
  EXPECT_EQ(model[model[model[node].results[0]].type].dtype, tensor::DType::float32);
  const std::string text = onnx::to_text(model);
  EXPECT_NE(text.find("\"my.domain\" : 1"), std::string::npos) << text;
  EXPECT_NE(text.find("i: int = 1, f: float = 0.5, s: string = \"t\", l: ints = [1, 2]"), std::string::npos) << text;
}

TEST(Insert, an_unknown_operator_of_onnx_is_a_finding) {
  ir::Model model = parsed(std::string(kTwo));
  Diagnostics findings;
  insert(model, between({"u"}, {"u"}), findings);
  ASSERT_EQ(findings.all().size(), 1u);
  EXPECT_EQ(findings.all()[0].message, "ONNX has no operator `FakeOp`");
}

}  // namespace
}  // namespace assay::surgery
