#include "ops/inference.h"

#include <array>

#include <gtest/gtest.h>

#include "support/parsed_model.h"

namespace assay::ops {
namespace {

using testing_support::parsed;
using testing_support::value_named;

std::string inferred(ir::Model& model, std::string_view name) {
  Inference inference(model);
  inference.run();
  for (const InferenceFinding& finding : inference.findings()) ADD_FAILURE() << finding.message;
  return inference.type(value_named(model, name)).text();
}

std::string inferred(const std::string& text, std::string_view name = "Y") {
  ir::Model model = parsed(text);
  return inferred(model, name);
}

std::vector<std::string> findings(const std::string& text) {
  ir::Model model = parsed(text);
  Inference inference(model);
  inference.run();
  std::vector<std::string> lines;
  for (const InferenceFinding& finding : inference.findings()) lines.push_back(finding.message);
  return lines;
}

TEST(InferenceTest, KnowsNothingOfTheElementsOfLargeTensors) {
  EXPECT_EQ(inferred("g (int64[1099511627776] X, bool[1] C) => (int64[] Y) <int64[1] one = {1}> {"
                     " Y = Where(C, X, one) }"),
            "int64[1099511627776]");
  EXPECT_EQ(inferred("g (int64[1099511627776] X) => (int64[] Y) <int64 one = {1}> { Y = Max(one, X) }"),
            "int64[1099511627776]");
  std::string doubled = "g (int64[4096] X) => (int64[] Y) { a0 = Identity(X) ";
  for (int i = 0; i < 28; ++i) doubled += fmt::format("a{} = Concat<axis=0>(a{}, a{}) ", i + 1, i, i);
  EXPECT_EQ(inferred(doubled + "Y = Identity(a28) }"), "int64[1099511627776]");
  EXPECT_EQ(inferred("g (int64[4096,1] X, int64[1,4096] W, int64[4096,1,1] V) => (int64[] Y) {"
                     " a = Add(X, W) Y = Add(a, V) }"),
            "int64[4096, 4096, 4096]");
}

TEST(InferenceTest, KnowsHowOftenACountedLoopGoesRound) {
  const auto collected = [](const std::string& count, const std::string& condition, const std::string& next) {
    return inferred(
        "g (float[n,3] X, bool on, int64 k) => (float[] Y) <int64 four = {4}, bool yes = {1}, int64[1] zero = {0}> {"
        " s = Shape<start = 0, end = 1>(X) m = Squeeze(s, zero)"
        " Y = Loop(" +
        count + ", " + condition +
        ") <body = b (int64 i, bool c) => (bool d, float[] e)"
        " { d = " +
        next + " e = Gather(X, i) }> }");
  };
  EXPECT_EQ(collected("four", "\"\"", "Identity(c)"), "float32[4, 3]");
  EXPECT_EQ(collected("four", "yes", "Identity(c)"), "float32[4, 3]");
  EXPECT_EQ(collected("m", "\"\"", "Identity(c)"), "float32[n, 3]");
  EXPECT_EQ(collected("four", "on", "Identity(c)"), "float32[unk__0, 3]");
  EXPECT_EQ(collected("four", "\"\"", "Identity(on)"), "float32[unk__0, 3]");
  EXPECT_EQ(collected("k", "\"\"", "Identity(c)"), "float32[unk__0, 3]");
}

TEST(InferenceTest, LengthsOfPartsThatOverflow) {
  const std::vector<std::string> found = findings(
      "g (int64[4] X) => (int64[] A, int64[] B, int64[] C, int64[] D) <int64[4] s = {4611686018427387904, "
      "4611686018427387904, 4611686018427387904, 4611686018427387908}> { A, B, C, D = Split(X, s) }");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("add up to"), std::string::npos) << found[0];
}

TEST(InferenceTest, KnowsHowManyWordsAreLeftWhereNoneAreTakenOut) {
  EXPECT_EQ(inferred("g (string[1,n] X) => (string[] Y) { Y = StringNormalizer<case_change_action = \"LOWER\">(X) }"),
            "string[1, n]");
  EXPECT_EQ(inferred("g (string[3] X) => (string[] Y) { Y = StringNormalizer<stopwords = [\"a\"]>(X) }"),
            "string[unk__0]");
}

TEST(InferenceTest, FollowsNamedDims) {
  EXPECT_EQ(inferred("g (float[n,3] X, float[3,m] W) => (float[] Y) { t = MatMul(X, W) Y = Concat<axis=1>(t, t) }"),
            "float32[n, 2*m]");
}

TEST(InferenceTest, FollowsShapesThroughTheGraph) {
  EXPECT_EQ(inferred(R"(g (float[b,s,12] X) => (float[] Y) <int64[1] tail = {4}>
      { sh = Shape(X) f = Shape<start=0, end=2>(X) h = Constant<value_ints=[3]>() t = Concat<axis=0>(f, h, tail)
        Y = Reshape(X, t) })"),
            "float32[b, s, 3, 4]");
  EXPECT_EQ(inferred(R"(g (float[b,s,12] X) => (float[] Y) <int64[2] t = {-1, 12}> { Y = Reshape(X, t) })"),
            "float32[b*s, 12]");
}

TEST(InferenceTest, ArithmeticOnShapesIsKeptAsFormulas) {
  EXPECT_EQ(inferred(R"(g (float[b] X, float[1] Z) => (float[] Y) <int64 two = {2}>
      { n = Shape(X) d = Mul(n, two) Y = Expand(Z, d) })"),
            "float32[2*b]");
}

TEST(InferenceTest, WhatOnlyDataDecidesIsASymbolOfItsOwn) {
  ir::Model model = parsed("g (float[4] X) => (int64[] Y, float[] Z) { Y = NonZero(X) Z = Transpose<perm=[0]>(X) }");
  Inference inference(model);
  inference.run();
  const Type& type = inference.type(value_named(model, "Y"));
  ASSERT_TRUE(type.dims.has_value());
  EXPECT_TRUE(inference.is_data_size((*type.dims)[1]));
  EXPECT_FALSE(inference.is_data_size((*type.dims)[0]));
}

TEST(InferenceTest, BothBranchesOfAnIfAreMerged) {
  EXPECT_EQ(inferred(R"(g (bool c, float[n,2] X, float[n,3] Z) => (float[] Y)
      { Y = If(c) <then_branch = t () => (float[] a) { a = Identity(X) }, else_branch = e () => (float[] a) { a = Identity(Z) }> })"),
            "float32[n, unk__0]");
}

TEST(InferenceTest, GoesThroughFunctions) {
  EXPECT_EQ(inferred(R"(<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
      g (float[n,2] X) => (float[] Y) { Y = local.twice<axis=1>(X) }
      <domain: "local", opset_import: ["" : 21]> twice<axis>(a) => (b) { b = Concat<axis: int = @axis>(a, a) })"),
            "float32[n, 4]");
}

TEST(InferenceTest, TheModelIsOnlyRead) {
  const ir::Model model =
      parsed("g (float[h,3] X) => (float[] Y) { a = NonZero(X) Y = AveragePool<kernel_shape=[2]>(X) }");
  const std::array sizes = {model.symbols().size(), model.dims().size(), model.types().size()};
  Inference(model).run();
  EXPECT_EQ((std::array{model.symbols().size(), model.dims().size(), model.types().size()}), sizes);
}

TEST(InferenceTest, GivenTypesHoldInThePlaceOfDeclaredOnes) {
  const ir::Model model = parsed("g (float[n,2] X) => (float[n,4] Y) { Y = Concat<axis=1>(X, X) }");
  Inference inference(model, {{value_named(model, "X"), Type::tensor(DType::float32, Dims{5, 2})}});
  inference.run();
  EXPECT_EQ(inference.type(value_named(model, "Y")).text(), "float32[5, 4]");
}

TEST(InferenceTest, FreshSymbolsTakeNoNameOfTheModel) {
  EXPECT_EQ(inferred("g (float[2] unk__0, float[unk__1] unk__2) => (int64[] Y) { Y = NonZero(unk__0) }"),
            "int64[1, unk__3]");
}

TEST(InferenceTest, FindingsAreIndependent) {
  const std::vector<std::string> found = findings(R"(g (float[2,3] X, float[4,5] W) => (float[] Y, float[] Z)
      { m = MatMul(X, W) Y = Relu(m) Z = Softmax<axis=7>(X) })");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], "the inner dims of [2, 3] and [4, 5] differ: 3 and 4");
  EXPECT_EQ(found[1], "axis 7 is out of range for rank 2");
}

TEST(InferenceTest, ContradictionsNameBothShapes) {
  const std::vector<std::string> found = findings("g (float[2,3] X) => (float[3,3] Y) { Y = Relu(X) }");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], "`Y` is declared as float32[3, 3], inferred is float32[2, 3]");
}

TEST(InferenceTest, RulesOfTheSchemaAreChecked) {
  EXPECT_EQ(findings("g (float[2] X) => (float[] Y) { Y = Relu<slope=1.0>(X) }"),
            std::vector<std::string>{"Relu has no attribute `slope`"});
  EXPECT_EQ(findings("g (float[2] X) => (float[] Y) { Y = Add(X) }"),
            std::vector<std::string>{"it has 1 inputs, Add takes 2"});
  EXPECT_EQ(findings("g (float[2] X, double[2] Z) => (float[] Y) { Y = Add(X, Z) }"),
            std::vector<std::string>{"inputs 0 and 1 must be of one type, they are float32 and float64"});
}

TEST(InferenceTest, CountsMultiplications) {
  ir::Model model = parsed("g (float[n,3] X, float[3,5] W) => (float[] Y) { Y = MatMul(X, W) }");
  Inference inference(model);
  inference.run();
  EXPECT_EQ(inference.macs(ir::NodeId{model[value_named(model, "Y")].producer}).text(), "15*n");
}

}  // namespace
}  // namespace assay::ops
