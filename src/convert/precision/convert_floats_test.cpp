#include "convert/precision/convert_floats.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "passes/pipelines.h"
#include "support/model_checks.h"
#include "support/origin_checks.h"
#include "support/parsed_model.h"
#include "support/sound_model.h"
#include "tensor/casts.h"

namespace assay::convert {
namespace {

using testing_support::error_of;
using testing_support::parsed;
using testing_support::value_named;

struct Converted {
  ir::Model model;
  HalfReport report;
  Diagnostics findings;

  // The operators of all graphs, outer ones first.
  std::string ops() const {
    std::string text;
    for (uint32_t i = 0; i < model.graph_slots(); ++i) {
      if (!model[model[ir::GraphId{i}].outputs_node].alive) continue;
      text += i == 0 ? "" : "/ ";
      for (const ir::NodeId node : ir::nodes(model, ir::GraphId{i}))
        text += std::string(model.text(model[node].op)) + ' ';
    }
    return text;
  }
  std::string dtype(std::string_view name) const {
    const ir::Value& value = model[value_named(model, name)];
    if (value.kind == ir::ValueKind::initializer) return tensor::name(model[value.constant].tensor.dtype());
    return tensor::name(model[value.type].dtype);
  }
  std::string reason(std::string_view node) const {
    for (const Layer& layer : report.layers) {
      if (layer.name == node) return layer.converted ? "converted" : layer.reason;
    }
    return "no layer";
  }
};

// Converts; whatever comes out has sound lists, types that inference agrees with, and is not changed a second time.
Converted convert(const std::string& text, const HalfOptions& options = {}) {
  Converted result{parsed(text), {}, Diagnostics()};
  const uint32_t first_made = result.model.node_slots();
  result.report = convert_floats(result.model, options, result.findings);
  EXPECT_EQ(testing_support::own_origins(result.model, first_made), "");
  EXPECT_EQ(testing_support::faults_of(result.model), "");
  Diagnostics again;
  EXPECT_FALSE(convert_floats(result.model, options, again).changed);
  return result;
}

TEST(ConvertFloats, PutsCastsAtTheBorderOnly) {
  const Converted result = convert("g (float[2] x) => (float[2] y) { a = Identity(x)  y = Identity(a) }");
  EXPECT_EQ(result.ops(), "Cast Identity Identity Cast ");
  EXPECT_EQ(result.dtype("x") + " " + result.dtype("y"), "float32 float32");
  EXPECT_EQ(result.report.edits.casts_added, 2U);
}

TEST(ConvertFloats, KeepsTheNameOfAnOutputThatStandsTwice) {
  const Converted result = convert("g (float[2] x) => (float[2] y, float[2] y2) { y = Tanh(x)  y2 = Identity(y) }");
  EXPECT_EQ(result.ops(), "Cast Tanh Cast Identity Cast ");
  EXPECT_EQ(result.dtype("y") + " " + result.dtype("y_float16"), "float32 float16");
  ir::Model model = parsed("g (float[2] x) => (float[2] y) { y = Tanh(x) }");
  const ir::ValueId y = value_named(model, "y");
  ir::Edit(model).set_outputs(model.main_graph(), std::vector{y, y});
  Diagnostics findings;
  convert_floats(model, {}, findings);
  for (const ir::Use& use : model.outputs(model.main_graph())) EXPECT_EQ(model.text(model[use.value].name), "y");
}

TEST(ConvertFloats, ConvertsTheInterfaceWhenAsked) {
  const Converted result =
      convert("g (float[2] x) => (float[2] y) { a = Identity(x)  y = Identity(a) }", {.keeps_interface = false});
  EXPECT_EQ(result.ops(), "Identity Identity ");
  EXPECT_EQ(result.dtype("x") + " " + result.dtype("y"), "float16 float16");
}

TEST(ConvertFloats, DefaultsOfInputsChangeWithTheInterface) {
  const Converted result =
      convert("g (float[2,2] x, float[2,2] w = {1, 2, 3, 4}) => (float[2,2] y) { y = MatMul(x, w) }",
              {.keeps_interface = false});
  const ir::Value& w = result.model[value_named(result.model, "w")];
  EXPECT_EQ(result.dtype("w"), "float16");
  EXPECT_EQ(tensor::name(result.model[w.constant].tensor.dtype()), "float16");
  EXPECT_EQ(result.ops(), "MatMul ");
}

TEST(ConvertFloats, ConvertsWeightsInPlaceOrBeside) {
  const Converted result = convert(R"(g (float[2] x) => (float[2] y, float[2] w)
    <float[2] w = {1, 2}, float[2] v = {3, 4}> { a = Add(x, w)  y = Mul(a, v) })");
  EXPECT_EQ(result.dtype("v"), "float16");
  EXPECT_EQ(result.dtype("w"), "float32");  // an output of the model
  EXPECT_EQ(result.dtype("w_float16"), "float16");
}

TEST(ConvertFloats, CastsAValueOnceForAllThatStayFloat32) {
  const Converted result = convert(R"(g (float[2] x) => (float[2] y, float[2] z)
    { a = Relu(x)  y = Exp(a)  z = Exp(a) })",
                                   {.choice = {.excluded_ops = {"exp"}}});
  EXPECT_EQ(result.ops(), "Cast Relu Cast Exp Exp ");
  EXPECT_EQ(result.reason("y"), "excluded by its operator");
}

TEST(ConvertFloats, RemovesCastsThatBecomePointless) {
  const Converted result = convert(R"(g (float[2] x) => (float16[2] y)
    { a = Relu(x)  b = Cast<to = 10>(a)  c = Cast<to = 1>(b)  d = Tanh(c)  e = Cast<to = 10>(d)  y = Neg(e) })");
  EXPECT_EQ(result.ops(), "Cast Relu Tanh Neg ");
}

TEST(ConvertFloats, LetsSchemasDecide) {
  const Converted result = convert(R"(g (float[1,1,4,4] x, float[4] s, float[1] r) => (float[n,m,p,q] y, float[k] z)
    { y = Resize(x, , s)  z = Range(r, r, r) })");
  EXPECT_EQ(result.ops(), "Cast Resize Cast Range ");
  EXPECT_EQ(result.reason("z"), "`Range` is not defined for float16");
}

TEST(ConvertFloats, LeavesGeneratorsAlone) {
  const Converted result = convert(R"(g (float[2,3] x) => (int32[2,1] n, float[2,3] y)
    { n = Multinomial(x)  y = Bernoulli<dtype = 1>(x) })");
  EXPECT_EQ(result.reason("n"), "it generates its result");
  EXPECT_EQ(result.reason("y"), "it generates its result");
}

TEST(ConvertFloats, RewritesAttributesThatSayTypes) {
  const Converted result = convert(R"(g (float[2] x, int64[1] n) => (float[m] y)
    { c = ConstantOfShape<value = float[1] {2}>(n)  r = RandomNormal<shape = [2], dtype = 1>()
      k = Constant<value_floats = [1.0, 2.0]>()
      a = Add(x, c)  b = Mul(a, k)  y = Mul(b, r) })");
  EXPECT_EQ(result.ops(), "Cast ConstantOfShape RandomNormal Cast Constant Add Mul Mul Cast ");
  EXPECT_EQ(result.reason("r"), "it generates its result");
}

TEST(ConvertFloats, KeepsWeightsThatDoNotFit) {
  const std::string text = "g (float[2] x) => (float[2] y) <float[2] w = {1e6, 2}> { a = Relu(x)  y = Min(a, w) }";
  const Converted kept = convert(text);
  EXPECT_EQ(kept.dtype("w"), "float32");
  EXPECT_EQ(kept.reason("y"), "its weight `w` has numbers up to 1e+06");
  const Converted clamped = convert(text, {.overflow = HalfOverflow::clamp});
  EXPECT_EQ(clamped.reason("y"), "converted");
  const Converted brain = convert(text, {.half = tensor::DType::bfloat16});
  EXPECT_EQ(brain.dtype("w"), "bfloat16");
}

// Masks of float32's least number: as a constant, as what is computed from one, and as an input that is added.
TEST(ConvertFloats, MasksStayFiniteInBfloat16) {
  const HalfOptions brain = {.half = tensor::DType::bfloat16};
  const std::string head =
      "g (float[2,2] x, bool[2] c, int64[2] t, float[2] m) => (float[2,2] y) "
      "<float least = {-3.4028235e38}, float one = {1}> ";
  const Converted chosen = convert(head + "{ y = Where(c, x, least) }", brain);
  EXPECT_EQ(chosen.ops(), "Constant Constant Clip Cast Where Cast ");
  const ir::Model& model = chosen.model;
  const tensor::Tensor& least = model[model[value_named(model, "least")].constant].tensor;
  double number = 0;
  tensor::load(tensor::DType::bfloat16, least.bytes(), 0, {&number, 1});
  EXPECT_EQ(number, -0x1.FEp127);
  const std::string turned = "f = Cast<to = 1>(t)  i = Sub(one, f)  l = Mul(i, least)  p = MatMul(x, x)  ";
  EXPECT_EQ(convert(head + "{ " + turned + "y = Add(p, l) }", brain).ops(),
            "Cast Cast Sub Mul Constant Constant Clip Cast MatMul Add Cast ");
  EXPECT_EQ(convert(head + "{ p = MatMul(x, x)  y = Add(p, m) }", brain).ops(),
            "Cast Constant Constant Clip Cast MatMul Add Cast ");
  EXPECT_EQ(convert(head + "{ p = Relu(x)  y = MatMul(p, x) }", brain).ops(), "Cast Relu MatMul Cast ");
}

// Inputs are taken to be ordinary: what may be too large for them stays float32 until it is bounded again.
TEST(ConvertFloats, KeepsWhatMayBeTooLarge) {
  const std::string text = R"(g (float[2,300] x, float[2,300] z) => (float[2,300] y) <int64[1] axes = {1}> {
    m = Mul(x, x)  s = ReduceSum(m, axes)  r = Sqrt(s)  d = Div(x, r)  p = Mul(d, z)  y = Relu(p) })";
  const Converted result = convert(text);
  EXPECT_EQ(result.reason("m"), "its values may reach 6.55e+04");
  EXPECT_EQ(result.reason("s"), "its values may reach 6.55e+04");
  EXPECT_EQ(result.reason("r"), "its values may reach 1.97e+07");
  EXPECT_EQ(result.reason("d"), "converted");
  EXPECT_EQ(result.reason("p"), "converted");
  EXPECT_EQ(convert(text, {.forced = {"m", "s", "r"}}).reason("s"), "converted");
  EXPECT_EQ(convert(text, {.half = tensor::DType::bfloat16}).reason("m"), "converted");
}

TEST(ConvertFloats, KeepsWhatWouldBecomeZero) {
  const std::string text = R"(g (float[2] x) => (float[2] y) <float eps = {1e-12}, float one = {1}> {
    a = Abs(x)  b = Add(a, eps)  c = Div(one, b)  d = Sigmoid(x)  e = Log(d)  f = Mul(d, one)  g = Add(c, e)
    y = Mul(g, f) })";
  const Converted result = convert(text);
  EXPECT_EQ(result.reason("a"), "converted");
  EXPECT_EQ(result.reason("b"), "its constant `eps` has 1e-12, which would become 0");
  EXPECT_EQ(result.reason("c"), "its values may be as small as 1e-12");
  EXPECT_EQ(result.reason("d"), "its result is divided by, or its logarithm taken: small numbers would become 0");
  EXPECT_EQ(result.reason("f"), "converted");
  EXPECT_EQ(convert(text, {.overflow = HalfOverflow::clamp}).reason("b"), "its values may be as small as 1e-12");
  const std::string rest = R"(g (float[2] x) => (float[2] y) { d = Sigmoid(x)  y = Mod<fmod = 1>(x, d) })";
  EXPECT_EQ(convert(rest).reason("d"),
            "its result is divided by, or its logarithm taken: small numbers would become 0");
  const std::string norm = R"(g (float[1,1,2] x) => (float[1,1,2] y) <float[1] w = {1}> {
    a = InstanceNormalization<epsilon = 1e-12>(x, w, w)  y = InstanceNormalization(a, w, w) })";
  EXPECT_EQ(convert(norm).reason("a"), "its epsilon 1e-12 would become 0");
  EXPECT_EQ(convert(norm).reason("y"), "converted");
}

TEST(ConvertFloats, LeavesIntegersInDisguiseAlone) {
  const Converted result = convert(R"(g (int64[2] n, float[2] x) => (int64[2] m, float[2] y) <float[1] h = {0.5}>
    { a = Cast<to = 1>(n)  b = Mul(a, h)  c = Floor(b)  m = Cast<to = 7>(c)  y = Add(x, c) })");
  EXPECT_EQ(result.reason("b"), "computed from integers");
  EXPECT_EQ(result.reason("y"), "converted");
  EXPECT_EQ(result.dtype("h"), "float32");
}

TEST(ConvertFloats, LeavesQuantizedPartsAlone) {
  const Converted result = convert(R"(g (float[2] x) => (float[2] y) <float s = {0.1}, uint8 z = {3}>
    { a = Relu(x)  q = QuantizeLinear(a, s, z)  d = DequantizeLinear(q, s, z)  e = Neg(d)  r = QuantizeLinear(e, s, z)
      f = DequantizeLinear(r, s, z)  y = Identity(f) })");
  EXPECT_EQ(result.dtype("s"), "float32");
  EXPECT_EQ(result.reason("e"), "it works on quantized values");
  EXPECT_EQ(result.report.edits.casts_added, 0U);
}

TEST(ConvertFloats, KeepsBodiesAndTheirOutsideOfOneType) {
  const Converted branches = convert(R"(g (bool c, float[2] x) => (float[2] y) {
    y = If(c) <then_branch = t () => (float[2] p) { p = Relu(x) }, else_branch = e () => (float[2] q) { q = Sin(x) }> })",
                                     {.choice = {.excluded_ops = {"Sin"}}});
  EXPECT_EQ(branches.ops(), "Cast If Cast / Relu / Sin Cast ");
  const Converted loop = convert(R"(g (int64 n, bool c, float[2] x) => (float[2] y, float[k,2] s) {
    y, s = Loop(n, c, x) <body = b (int64 i, bool d, float[2] v) => (bool d2, float[2] w, float[2] t)
      { d2 = Identity(d)  w = Neg(v)  t = Tanh(v) }> })");
  EXPECT_EQ(loop.ops(), "Cast Loop Cast Cast / Identity Neg Tanh ");
}

// Where the output of a body is a Cast, it stays: it cannot be a value from outside.
TEST(ConvertFloats, KeepsCastsThatAreOutputsOfBodies) {
  const Converted result = convert(R"(g (bool c, float[2] x) => (float16[2] y) { a = Relu(x)
    y = If(c) <then_branch = t () => (float16[2] p) { p = Cast<to = 10>(a) },
               else_branch = e () => (float16[2] q) { q = Cast<to = 10>(a) }> })");
  EXPECT_EQ(result.ops(), "Cast Relu If / Cast / Cast ");
}

TEST(ConvertFloats, LeavesFunctionsAndSequencesAlone) {
  const Converted result = convert(R"(<ir_version: 10, opset_import: ["" : 21, "f" : 1]>
    g (float[2] x) => (float[2] y) { a = Relu(x)  b = f.twice(a)  s = SequenceConstruct(b, b)
      i = Constant<value_int = 0>()  c = SequenceAt(s, i)  y = Relu(c) }
    <domain: "f", opset_import: ["" : 21]> twice (p) => (q) { q = Add(p, p) })");
  EXPECT_EQ(result.reason("b"), "it calls a function of the model");
  EXPECT_EQ(result.reason("s"), "sequences and optionals stay float32");
  EXPECT_EQ(result.reason("y"), "converted");
}

TEST(ConvertFloats, TakesNamesWithWildcards) {
  const std::string text = "g (float[2] x) => (float[2] y) { ab = Relu(x)  ac = Neg(ab)  y = Exp(ac) }";
  const Converted result = convert(text, {.choice = {.excluded = {"a*"}}});
  EXPECT_EQ(result.ops(), "Relu Neg Cast Exp Cast ");
  const std::optional<Error> error = error_of([&] { convert(text, {.choice = {.excluded = {"ad"}}}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->line(), "there is no node `ad`: did you mean `ab`?");
}

TEST(ConvertFloats, ForcesWhatWouldBetterStay) {
  const std::string text = "g (float[2] x, int64 a) => (float[2] y) { y = CumSum(x, a) }";
  EXPECT_EQ(convert(text).report.changed, false);
  EXPECT_EQ(convert(text, {.forced = {"y"}}).ops(), "Cast CumSum Cast ");
}

TEST(ConvertFloats, IsAPassWithOneStep) {
  ir::Model model = parsed("g (float[2] x, int64 a) => (float[2] y) { b = Relu(x)  y = CumSum(b, a) }");
  ir::Rewriter rewriter(model);
  const passes::Options options;
  passes::Pipeline pipeline(model, rewriter, options);
  constexpr std::string_view kPass = "to-bfloat16";
  EXPECT_EQ(passes::find_pass(kPass).pass_class, passes::PassClass::lossy);
  EXPECT_EQ(pipeline.run({&kPass, 1}), 1U);
  EXPECT_EQ(pipeline.run({&kPass, 1}), 0U);
  EXPECT_EQ(model[model.main_graph()].node_count, 4U);  // Cast, Relu, Cast, CumSum
  ASSERT_FALSE(pipeline.skipped().empty());
  EXPECT_EQ(pipeline.skipped()[0].reason, "its result would only lose accuracy");
}

TEST(ConvertFloats, RefusesOperatorSetsWithoutTheCast) {
  const std::string text = "<ir_version: 4, opset_import: [\"\" : 12]> g (float[2] x) => (float[2] y) { y = Relu(x) }";
  EXPECT_EQ(convert(text).ops(), "Cast Relu Cast ");
  const std::optional<Error> error = error_of([&] { convert(text, {.half = tensor::DType::bfloat16}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unsupported);
}

}  // namespace
}  // namespace assay::convert
