// What models that are made to do harm meet: the limits of a run and of inference.
#include <gtest/gtest.h>

#include "ir/edit.h"
#include "ops/inference.h"
#include "ops/interpreter.h"
#include "support/parsed_model.h"

namespace assay::ops {
namespace {

using testing_support::parsed;
using testing_support::value_named;

constexpr std::string_view kLocal = R"(<ir_version: 10, opset_import: ["" : 21, "local" : 1]> )";

std::string limit_failure(const ir::Model& model, const InterpreterOptions& options = {}) {
  Interpreter interpreter(model, options);
  std::vector<InputDatum> data;
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    data.push_back({input, make_rounded(DType::float32, {1}, std::vector<double>{1})});
  }
  try {
    interpreter.run(data, {}, [](ir::ValueId, const Datum&) {});
  } catch (const Error& error) {
    return error.line();
  }
  return {};
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// The functions f0 to f<depth>, each but the first with two calls of the one before it.
std::string doubling_functions(int depth) {
  std::string text = R"(<domain: "local", opset_import: ["" : 21, "local" : 1]> f0 (a) => (b) { b = Neg(a) })";
  for (int i = 1; i <= depth; ++i) {
    text += fmt::format(
        " <domain: \"local\", opset_import: [\"\" : 21, \"local\" : 1]> f{} (a) => (c) {{ b = local.f{}(a) c = "
        "local.f{}(b) }}",
        i, i - 1, i - 1);
  }
  return text;
}

std::string doubling_model(int depth) {
  return fmt::format("{} g (float[1] X) => (float[1] Y) {{ Y = local.f{}(X) }} {}", kLocal, depth,
                     doubling_functions(depth));
}

// Loops in loops, each with `trips` iterations.
std::string nested_loops(int depth, int64_t trips) {
  std::string text = "e0 = Neg(a0)";
  for (int i = 0; i < depth; ++i) {
    text = fmt::format(
        "e{1} = Loop(n, \"\", a{1}) <body = b{0} (int64 i{0}, bool c{0}, float[1] a{0}) => (bool d{0}, float[1] e{0}) "
        "{{ d{0} = Identity(c{0}) {2} }}>",
        i, i + 1, text);
  }
  return fmt::format("g (float[1] a{0}) => (float[1] e{0}) <int64 n = {{{1}}}> {{ {2} }}", depth, trips, text);
}

TEST(LimitsTest, IterationsOfAllLoopsCountTogether) {
  const ir::Model model = parsed(nested_loops(6, 100));
  EXPECT_TRUE(contains(limit_failure(model, {.max_steps = 1000}), "did not end within 1000 iterations"));
  EXPECT_EQ(limit_failure(parsed(nested_loops(2, 10)), {.max_steps = 111}), "");
}

TEST(LimitsTest, CallsOfFunctionsCountAsIterations) {
  EXPECT_EQ(limit_failure(parsed(doubling_model(3)), {.max_steps = 15}), "");
  EXPECT_TRUE(contains(limit_failure(parsed(doubling_model(40)), {.max_steps = 1000}), "did not end within 1000"));
}

TEST(LimitsTest, FunctionsMayNotCallTooDeep) {
  std::string text = fmt::format("{} g (float[1] X) => (float[1] Y) {{ Y = local.f2000(X) }}", kLocal);
  text += R"(<domain: "local", opset_import: ["" : 21, "local" : 1]> f0 (a) => (b) { b = Neg(a) })";
  for (int i = 1; i <= 2000; ++i) {
    text += fmt::format(
        " <domain: \"local\", opset_import: [\"\" : 21, \"local\" : 1]> f{} (a) => (b) {{ b = local.f{}(a) }}", i,
        i - 1);
  }
  ir::Model model = parsed(text);
  EXPECT_TRUE(contains(limit_failure(model), "nested deeper than 200"));
  Inference inference(model);
  inference.run();
  ASSERT_EQ(inference.findings().size(), 1u);
  EXPECT_EQ(inference.findings()[0].message, "bodies and functions are nested deeper than 200");
}

TEST(LimitsTest, InferenceLooksAtFunctionsOnlySoOften) {
  ir::Model model = parsed(doubling_model(40));
  Inference inference(model);
  inference.run();
  ASSERT_EQ(inference.findings().size(), 1u);
  EXPECT_EQ(inference.findings()[0].code, "limit");
  EXPECT_TRUE(contains(inference.findings()[0].message, "come to more than 20")) << inference.findings()[0].message;
}

// 26 labels of 2 elements each, a sampling grid of 10^5 by 10^5, a transform whose length is a prime.
TEST(LimitsTest, WorkIsKnownBeforeItStarts) {
  const std::string expected = "steps of work";
  EXPECT_TRUE(contains(limit_failure(parsed(R"(g () => (float Y) <float[2] a = {1, 2}>
      { Y = Einsum<equation = "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z->">
            (a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a) })"),
                                     {.max_work = 10'000'000}),
                       expected));
  EXPECT_TRUE(contains(limit_failure(parsed(R"(g () => (float[] Y)
      <float[1,1,2,2] x = {1, 2, 3, 4}, float[1,4] r = {0, 0, 2, 2}, int64[1] b = {0}>
      { Y = RoiAlign<sampling_ratio = 100000, output_height = 7, output_width = 7>(x, r, b) })"),
                                     {.max_work = 1'000'000'000}),
                       expected));
  EXPECT_TRUE(contains(limit_failure(parsed(R"(g () => (float[] Y) <int64[3] s = {1, 100003, 1}, int64 a = {1}>
      { x = ConstantOfShape(s) Y = DFT(x, "", a) })"),
                                     {.max_work = 1'000'000'000}),
                       expected));
}

// Elements in and out, and what else there is to do, counted by hand.
TEST(LimitsTest, WorkBeyondElementsIsCounted) {
  struct Case {
    std::string_view text;
    uint64_t work;
  };
  const Case cases[] = {
      {"(float[1,1,2] y) <float[1,1,4] x = {1,2,3,4}> { y = MaxPool<kernel_shape=[3]>(x) }", 4 + 2 + 2 * 3},
      {"(float[1,1,2] y) <float[1,1,4] x = {1,2,3,4}> { y = AveragePool<kernel_shape=[3]>(x) }", 4 + 2 + 2 * 3},
      {"(float[1,1,2] y) <float[1,1,4] x = {1,2,3,4}> { y = LpPool<kernel_shape=[3]>(x) }", 4 + 2 + 2 * 3},
      {"(int8[1,2,1] y) <int8[1,4,1] x = {1,2,3,4}> { y = com.microsoft.NhwcMaxPool<kernel_shape=[3]>(x) }",
       4 + 2 + 2 * 3},
      {"(float[1,4,1] y) <float[1,4,1] x = {1,2,3,4}> { y = LRN<size=3>(x) }", 4 + 4 + 4 * 3},
      {"(float[1,1,1,1] y) <float[1,1,2,2] x = {1,2,3,4}, float[1,5] r = {0,0,0,1,1}>"
       " { y = MaxRoiPool<pooled_shape=[1,1]>(x, r) }",
       4 + 5 + 1 + 4},
      {"(float[1,1,2] y) <float[1,1,4] x = {1,2,3,4}, int64[3] s = {1,1,2}>"
       " { y = Resize<mode=\"linear\", antialias=1>(x, \"\", \"\", s) }",
       4 + 3 + 2 + 2 * 2 * 2},
      {"(int64[n,3] y) <float[1,2,4] b = {0,0,1,1,5,5,6,6}, float[1,1,2] s = {1,2}, int64[1] m = {2}>"
       " { y = NonMaxSuppression(b, s, m) }",
       8 + 2 + 1 + 2 * 2},
      {"(float[2,1] y) <float[2,1] x = {1,2}> { y = ai.onnx.ml.TreeEnsemble<nodes_modes=uint8[1] {0},"
       " nodes_featureids=[0], nodes_splits=float[1] {1}, nodes_truenodeids=[0], nodes_falsenodeids=[1],"
       " nodes_trueleafs=[1], nodes_falseleafs=[1], leaf_targetids=[0,0], leaf_weights=float[2] {1,2},"
       " tree_roots=[0]>(x) }",
       2 + 2 + 2 * (1 + 2)},
      {"(float[2,1] y) <float[2,1] x = {1,2}> { y = ai.onnx.ml.SVMRegressor<coefficients=[1.0], n_supports=1,"
       " support_vectors=[1.0], rho=[0.0]>(x) }",
       2 + 2 + 2 * 2},
      {"(float[2,2] y) <float[2,2] x = {1,0,0,1}> { y = com.microsoft.Inverse(x) }", 4 + 4 + 2 * 4 * 2},
      {"(float[1,2] y) <float[1,3] a = {1,0,0}, float[2,3] b = {1,0,0,1,0,0}> { y = com.microsoft.CDist(a, b) }",
       3 + 6 + 2 + 2 * 3},
  };
  for (const Case& wanted : cases) {
    const ir::Model model = parsed(
        fmt::format("<ir_version: 10, opset_import: [\"\" : 21, \"ai.onnx.ml\" : 5, \"com.microsoft\" : 1]> g () => {}",
                    wanted.text));
    EXPECT_EQ(limit_failure(model, {.max_work = wanted.work}), "") << wanted.text;
    EXPECT_TRUE(contains(limit_failure(model, {.max_work = wanted.work - 1}), "steps of work")) << wanted.text;
  }
}

TEST(LimitsTest, WorkIsCountedOverTheRun) {
  const ir::Model model = parsed(nested_loops(1, 1000));
  EXPECT_TRUE(contains(limit_failure(model, {.max_work = 1000}), "steps of work"));
  EXPECT_EQ(limit_failure(model, {.max_work = 100'000}), "");
}

TEST(LimitsTest, StringsAreCounted) {
  std::string text = "g () => (string[1] a60) <string[1] a0 = {\"0123456789\"}> {";
  for (int i = 0; i < 60; ++i) text += fmt::format(" a{1} = StringConcat(a{0}, a{0})", i, i + 1);
  ir::Model model = parsed(text + " }");
  EXPECT_TRUE(contains(limit_failure(model, {.max_memory_bytes = 1 << 20}), "of memory"));
  Inference inference(model);
  inference.run();
  EXPECT_EQ(inference.type(value_named(model, "a60")).text(), "string[1]");
  EXPECT_EQ(inference.constant(value_named(model, "a40")), nullptr);
}

TEST(LimitsTest, WhatLoopsCollectIsCounted) {
  const std::string loop = R"(g () => (float[] Y) <int64 n = {1000}, int64[1] s = {10000}>
      { Y = Loop(n, "") <body = b (int64 i, bool c) => (bool d, float[] e)
        { d = Identity(c) z = ConstantOfShape(s) e = Neg(z) }> })";
  EXPECT_TRUE(contains(limit_failure(parsed(loop), {.max_memory_bytes = 1 << 20}), "of memory"));
  const std::string sequence = R"(g () => (int64 Y) <int64 n = {1000}, int64[1] s = {10000}>
      { q = SequenceEmpty() p = Loop(n, "", q) <body = b (int64 i, bool c, seq(float[]) a) => (bool d, seq(float[]) e)
        { d = Identity(c) z = ConstantOfShape(s) w = Neg(z) e = SequenceInsert(a, w) }> Y = SequenceLength(p) })";
  EXPECT_TRUE(contains(limit_failure(parsed(sequence), {.max_memory_bytes = 1 << 20}), "of memory"));
}

// 40 kB at a time, however many iterations there are.
TEST(LimitsTest, WhatIsDroppedIsNotCounted) {
  const ir::Model model = parsed(R"(g () => (float[] Y) <int64 n = {100}, int64[1] s = {10000}, float[1] o = {0}>
      { Y = Loop(n, "", o) <body = b (int64 i, bool c, float[] a) => (bool d, float[] e)
        { d = Identity(c) z = ConstantOfShape(s) w = Neg(z) e = Add(w, o) }> })");
  EXPECT_EQ(limit_failure(model, {.max_memory_bytes = 1 << 20}), "");
}

TEST(LimitsTest, TensorsOfNoElementTypeAreRefused) {
  ir::Model model = parsed("g (float[1] X) => (float[] Y) <int64[1] s = {1}> { Y = Reshape(X, s) }");
  ir::Edit edit(model);
  const ir::TensorId tensor = model[value_named(model, "s")].constant;
  edit.set_tensor(tensor, Tensor(DType::undefined, {1}, tensor::make_owned({})));
  EXPECT_TRUE(contains(limit_failure(model), "input 1 (`shape`) is a tensor of no element type"));
  edit.set_tensor(tensor, Tensor(DType{77}, {1}, tensor::make_owned({})));
  EXPECT_TRUE(contains(limit_failure(model), "input 1 (`shape`) is a tensor of the unknown element type dtype(77)"));
}

TEST(LimitsTest, ShapesOfTooManyDimsAreRefused) {
  ir::Model model = parsed("g (float[1] X) => (float[] Y) <int64[1] s = {1}> { Y = Reshape(X, s) }");
  ir::Edit edit(model);
  edit.set_tensor(model[value_named(model, "s")].constant,
                  make_rounded(DType::int64, {5000}, std::vector<int64_t>(5000, 1)));
  EXPECT_TRUE(contains(limit_failure(model), "at most 4096"));
}

TEST(LimitsTest, BodiesWithoutNamesOfOutputsAreRefused) {
  ir::Model model = parsed(R"(g (float[1] X) => (float Y) <bool on = {1}>
      { Y = If(on) <then_branch = t () => (float[1] a) { a = Neg(X) },
                    else_branch = e () => (float[1] b) { b = Abs(X) }> })");
  ir::Edit edit(model);
  const ir::NodeId node = model[model.main_graph()].first;
  const ir::ValueId nothing;
  for (const ir::GraphId body : model.bodies(model[node])) edit.set_outputs(body, {&nothing, 1});
  EXPECT_TRUE(contains(limit_failure(model), "output 0 of its body has no name"));
}

}  // namespace
}  // namespace assay::ops
