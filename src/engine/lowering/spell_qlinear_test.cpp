#include "engine/lowering/spell_qlinear.h"

#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

double code(size_t i) { return static_cast<double>((i + 1) * 0x9E3779B97F4A7C15 >> 56); }

// Nodes from `x`, uint8[2,6,3,5], `r`, uint8[2,6,3,1], and `m`, uint8[9,6], to `y`.
ir::Model model_of(const std::string& nodes, const char* type, int version = 17) {
  return testing_support::parsed(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : {}, \"com.microsoft\" : 1]> g (uint8[2,6,3,5] x, uint8[2,6,3,1] r, "
      "uint8[9,6] m) => ({} y) "
      "<float s = {{0.0313}}, uint8 z = {{120}}, float t = {{0.0511}}, uint8 k = {{77}}, float u = {{0.0717}}, uint8 n "
      "= {{101}}, float f = {{0.0237}}, uint8[6,2] w = {{0,255,9,128,1,2,30,200,40,50,255,0}}, float[2] v = "
      "{{0.01,0.02}}, uint8[2] l = {{3,200}}, int32[2] c = {{900,-700}}> {{ {} }}",
      version, type, nodes));
}

// What follows another runs on the reference too.
void expect_spelled(const std::string& nodes, const char* type, size_t steps, double distance = 1, int version = 17) {
  const ir::Model model = model_of(nodes, type, version);
  ir::Model spelled = model.copy();
  ir::Rewriter rewriter(spelled);
  spell_qlinear(spelled, rewriter);
  EXPECT_EQ(rewriter.steps().size(), steps) << nodes;
  const std::vector<double> expected = testing_support::run_on_reference(model, code)[0];
  for (const std::vector<double>& seen :
       {testing_support::run_on_reference(spelled, code)[0], testing_support::run_on_engine(model, code).outputs[0]}) {
    ASSERT_EQ(seen.size(), expected.size());
    for (size_t i = 0; i < seen.size(); ++i) ASSERT_NEAR(seen[i], expected[i], distance) << nodes << " " << i;
  }
}

TEST(SpellQLinear, OperatorsOfCodesAgreeWithTheReference) {
  for (const char* const nodes :
       {"y = com.microsoft.QLinearAdd(x, s, z, r, t, k, u, n)", "y = com.microsoft.QLinearMul(r, s, z, x, t, k, u, n)",
        "y = com.microsoft.QLinearSigmoid(x, s, z, f, k)",
        "y = com.microsoft.QLinearLeakyRelu<alpha = 0.3>(x, s, z, u, n)",
        "y = com.microsoft.QLinearGlobalAveragePool(x, s, z, f, n)",
        "y = com.microsoft.QLinearAveragePool<kernel_shape = [2,3], pads = [1,0,0,1], strides = [1,2]>(x, s, z, f, n)",
        "y = com.microsoft.QLinearAveragePool<kernel_shape = [2,2], pads = [1,1,0,0], count_include_pad = 1>(x, s, z, "
        "f, n)",
        "y = com.microsoft.QLinearSoftmax<axis = 1, opset = 13>(x, s, z, f, k)",
        "y = com.microsoft.QLinearConcat<axis = 3>(u, n, x, s, z, r, t, k)"})
    expect_spelled(nodes, "uint8", 1);
}

TEST(SpellQLinear, ChoicesAndMeansAgreeWithTheReference) {
  expect_spelled("b = Cast<to = 9>(r) y = com.microsoft.QLinearWhere(b, x, s, z, r, t, k, u, n)", "uint8", 1);
  for (const int version : {17, 18}) {
    expect_spelled("y = com.microsoft.QLinearReduceMean<axes = [3], keepdims = 0>(x, s, z, f, n)", "uint8", 1, 1,
                   version);
    expect_spelled("y = com.microsoft.QLinearReduceMean<axes = [1,2], keepdims = 1>(x, s, z, f, n)", "uint8", 1, 1,
                   version);
  }
}

TEST(SpellQLinear, ProductsAgreeWithTheReference) {
  expect_spelled("y = com.microsoft.QGemm(m, s, z, w, v, l, c, u, n)", "uint8", 1);
  expect_spelled("y = com.microsoft.QGemm<transB = 0>(m, s, z, w, t, k, , u, n)", "uint8", 1);
  expect_spelled("y = com.microsoft.QGemm<transB = 1>(m, s, z, m, t, k, , u, n)", "uint8", 1);
  expect_spelled("y = com.microsoft.QGemm(m, s, z, w, v, l, c)", "float", 1, 1e-4);
}

TEST(SpellQLinear, OthersStayAsTheyAre) {
  expect_spelled("y = com.microsoft.QLinearGlobalAveragePool<channels_last = 1>(x, s, z, u, n)", "uint8", 0);
  expect_spelled("y = com.microsoft.QLinearSoftmax<axis = 1, opset = 12>(x, s, z, f, k)", "uint8", 0);
  expect_spelled("y = com.microsoft.QLinearAveragePool<kernel_shape = [2,2], ceil_mode = 1>(x, s, z, f, n)", "uint8",
                 0);
  expect_spelled("y = com.microsoft.QGemm<alpha = 0.5>(m, s, z, w, v, l, c, u, n)", "uint8", 0);
  expect_spelled("q = Identity(s) a = Add(q, t) y = com.microsoft.QLinearAdd(x, a, z, x, t, k, u, n)", "uint8", 0);
}

}  // namespace
}  // namespace assay::engine
