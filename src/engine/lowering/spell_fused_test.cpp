#include "engine/lowering/spell_fused.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/lowering/spell_qlinear.h"
#include "support/engine_run.h"

namespace assay::engine {
namespace {

using testing_support::difference;
using testing_support::EngineRun;
using testing_support::parsed;
using testing_support::run_on_engine;
using testing_support::run_on_reference;
using testing_support::sine;

double code(size_t i) { return static_cast<double>((i + 1) * 0x9E3779B97F4A7C15 >> 56) - 128; }

std::string list(int count) {
  std::string numbers;
  for (int i = 0; i < count; ++i) numbers += fmt::format("{}{:.3f}", i == 0 ? "" : ",", std::sin(0.7 * i));
  return numbers;
}

ir::Model model_of(const std::string& inputs, const std::string& output, const std::string& constants,
                   const std::string& node, int version = 17) {
  return parsed(
      fmt::format("<ir_version: 8, opset_import: [\"\" : {}, \"com.microsoft\" : 1]> g ({}) => ({}) <{}> "
                  "{{ {} }}",
                  version, inputs, output, constants, node));
}

// One step, after which there are only operators of ai.onnx; reference and engine compute the same.
void expect_spelled(const ir::Model& model, double (*number)(size_t) = sine, double tolerance = 2e-6) {
  ir::Model spelled = model.copy();
  ir::Rewriter rewriter(spelled);
  spell_fused(spelled, rewriter);
  EXPECT_EQ(rewriter.steps().size(), 1u);
  spell_qlinear(spelled, rewriter);
  for (const ir::NodeId node : ir::nodes(spelled, spelled.main_graph())) {
    EXPECT_EQ(spelled.text(spelled[node].domain), "");
  }
  const std::vector<std::vector<double>> expected = run_on_reference(model, number);
  EXPECT_EQ(difference(run_on_reference(spelled, number), expected, tolerance), "");
  EXPECT_EQ(difference(run_on_engine(model, number).outputs, expected, tolerance), "");
}

void expect_as_it_is(const ir::Model& model) {
  ir::Model spelled = model.copy();
  ir::Rewriter rewriter(spelled);
  spell_fused(spelled, rewriter);
  EXPECT_EQ(rewriter.steps().size(), 0u);
}

constexpr const char* kActivations[] = {"\"\"",
                                        "\"Identity\"",
                                        "\"Relu\"",
                                        "\"Sigmoid\"",
                                        "\"Tanh\"",
                                        "\"LeakyRelu\"",
                                        "\"LeakyRelu\", activation_params = [0.3]",
                                        "\"HardSigmoid\"",
                                        "\"HardSigmoid\", activation_params = [0.3, 0.4]",
                                        "\"Clip\", activation_params = [-0.1, 0.4]",
                                        "\"Clip\", activation_params = [0.1]",
                                        "\"Elu\"",
                                        "\"Softplus\"",
                                        "\"Softsign\"",
                                        "\"Affine\", activation_params = [2.0, 0.5]",
                                        "\"ScaledTanh\", activation_params = [2.0, 0.5]",
                                        "\"ThresholdedRelu\", activation_params = [0.2]"};

TEST(SpellFused, convolutions) {
  const std::string weights = "float[4,3,2,2] w = {" + list(48) + "}, float[4] b = {1,-1,0.5,0}";
  for (const char* const activation : kActivations) {
    SCOPED_TRACE(activation);
    for (const int version : {10, 13}) {
      expect_spelled(model_of(
          "float[2,3,5,6] x, float[2,4,5,6] z", "float[2,4,5,6] y", weights,
          fmt::format("y = com.microsoft.FusedConv<pads = [1,0,0,1], activation = {}>(x, w, b, z)", activation),
          version));
    }
  }
  expect_spelled(model_of("float[2,3,5,6] x", "float[2,4,2,3] y", weights,
                          "y = com.microsoft.FusedConv<strides = [2,2], activation = \"Relu\">(x, w)"));
  expect_spelled(model_of("float[2,5,6,3] x, float[2,4,5,4] z", "float[2,4,5,4] y", weights,
                          "y = com.microsoft.NhwcFusedConv<activation = \"Relu\">(x, w, b, z)"));
  expect_spelled(model_of("float[2,5,6,3] x", "float[2,4,5,4] y", weights, "y = com.microsoft.NhwcConv(x, w, b)"));
}

TEST(SpellFused, convolutions_and_pools_of_codes) {
  const std::string numbers =
      "float s = {0.03}, int8 z = {12}, float t = {0.02}, int8 k = {0}, float u = {0.6}, int8 n = {-5}, int32[2] b = "
      "{90,-70}, int8[2,3,1,2] w = {1,-9,9,127,-128,2,30,20,40,50,5,0}";
  const char* const kConv = "y = com.microsoft.QLinearConv<channels_last = {}>(x, s, z, w, t, k, u, n, b)";
  expect_spelled(model_of("int8[2,4,6,3] x", "int8[2,4,5,2] y", numbers, fmt::format(fmt::runtime(kConv), 1)), code, 1);
  expect_spelled(model_of("int8[2,3,4,6] x", "int8[2,2,4,5] y", numbers, fmt::format(fmt::runtime(kConv), 0)), code, 1);
  expect_spelled(model_of("int8[2,7,6,3] x", "int8[2,3,3,3] y", numbers,
                          "y = com.microsoft.NhwcMaxPool<kernel_shape = [3,2], strides = [2,2]>(x)"),
                 code, 0);
  for (const char* const node :
       {"y = com.microsoft.QLinearAveragePool<channels_last = 1, kernel_shape = [7,6]>(x, s, z, t, n)",
        "y = com.microsoft.QLinearGlobalAveragePool<channels_last = 1>(x, s, z, t, n)"}) {
    expect_spelled(model_of("int8[2,7,6,3] x", "int8[2,1,1,3] y", numbers, node), code, 1);
  }
}

TEST(SpellFused, gemms) {
  const std::string weights = "float[3,4] w = {" + list(12) + "}, float[4] b = {1,-1,0.5,0}";
  for (const char* const activation :
       {"\"\"", "\"Relu\"", "\"LeakyRelu\", activation_alpha = 0.3", "\"Affine\", activation_alpha = 2.0",
        "\"Clip\", activation_alpha = -0.1, activation_beta = 0.4"}) {
    SCOPED_TRACE(activation);
    expect_spelled(model_of(
        "float[5,3] x", "float[5,4] y", weights,
        fmt::format("y = com.microsoft.FusedGemm<alpha = 0.5, beta = 2.0, activation = {}>(x, w, b)", activation)));
  }
  expect_spelled(model_of("float[3,5] x", "float[5,4] y", weights,
                          "y = com.microsoft.FusedGemm<transA = 1, activation = \"Relu\">(x, w)"));
}

TEST(SpellFused, products) {
  struct Form {
    const char* a;
    const char* b;
    const char* attributes;
  };
  constexpr Form kForms[] = {
      {"2,3,5,4", "2,3,4,6", "alpha = 1.0"},
      {"2,3,4,5", "2,3,4,6", "transA = 1"},
      {"2,3,5,4", "2,3,6,4", "transB = 1, alpha = 0.125"},
      {"5,2,3,4", "2,3,4,6", "transBatchA = 1"},
      {"4,2,3,5", "4,2,3,6", "transA = 1, transBatchA = 1, transBatchB = 1"},
      {"2,3,5,4", "6,2,3,4", "transB = 1, transBatchB = 1"},
  };
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.attributes);
    expect_spelled(model_of(fmt::format("float[{}] a, float[{}] b", form.a, form.b), "float[2,3,5,6] y", "",
                            fmt::format("y = com.microsoft.FusedMatMul<{}>(a, b)", form.attributes)));
  }
  expect_spelled(model_of("float[4,5] a, float[6,4] b", "float[5,6] y", "",
                          "y = com.microsoft.TransposeMatMul<transA = 1, transB = 1, alpha = 2.0>(a, b)"));
}

TEST(SpellFused, activations) {
  for (const char* const node :
       {"y = com.microsoft.Gelu(x)", "y = com.microsoft.BiasGelu(x, b)", "y = com.microsoft.FastGelu(x)",
        "y = com.microsoft.FastGelu(x, b)", "y = com.microsoft.QuickGelu(x)",
        "y = com.microsoft.QuickGelu<alpha = 1.0>(x)", "y = com.microsoft.BiasAdd(x, b, z)"}) {
    SCOPED_TRACE(node);
    for (const int version : {10, 20}) {
      expect_spelled(
          model_of("float[3,5,4] x, float[3,5,4] z", "float[3,5,4] y", "float[4] b = {1,-2,0.5,0}", node, version));
    }
  }
  expect_spelled(model_of("float[7,3] x", "float[7,4] y",
                          "float[4] b = {1,-2,0.5,0}, float[3,4] w = {" + list(12) + "}",
                          "y = com.microsoft.GemmFastGelu(x, w, b)"));
}

TEST(SpellFused, normalizations) {
  const std::string rows = "float[4] g = {1,2,0.5,-1}, float[4] b = {0.1,0.2,0,1}, float[4] d = {1,0,0,2}";
  for (const char* const node :
       {"y = com.microsoft.SkipLayerNormalization(x, s, g, b, d)", "y = com.microsoft.SkipLayerNormalization(x, s, g)",
        "y = com.microsoft.SkipLayerNormalization<epsilon = 0.1>(x, s, g, , d)",
        "y, , , z = com.microsoft.SkipLayerNormalization(x, s, g, b, d)",
        "y = com.microsoft.SkipSimplifiedLayerNormalization(x, s, g)",
        "y, , , z = com.microsoft.SkipSimplifiedLayerNormalization(x, s, g, d)"}) {
    SCOPED_TRACE(node);
    const bool has_sum = std::string(node).find(" z =") != std::string::npos;
    for (const int version : {13, 17}) {
      for (const char* const skip : {"3,5,4", "1,5,4", "5,4"}) {
        expect_spelled(model_of(fmt::format("float[3,5,4] x, float[{}] s", skip),
                                has_sum ? "float[3,5,4] y, float[3,5,4] z" : "float[3,5,4] y", rows, node, version));
      }
    }
  }
  // ONNX Runtime writes it into models of any version.
  for (const char* const op : {"LayerNormalization", "SimplifiedLayerNormalization"}) {
    const ir::Model model = model_of("float[3,5,4] x", "float[3,5,4] y", rows, fmt::format("y = {}(x, g)", op), 13);
    const EngineRun run = run_on_engine(model, sine);
    EXPECT_EQ(run.tactics, std::vector<std::string>{"normalization.rows"}) << op;
    EXPECT_EQ(difference(run.outputs, run_on_reference(model, sine), 2e-6), "") << op;
  }
}

TEST(SpellFused, products_of_codes) {
  const std::string weights =
      "int8[3,2] w = {1,-9,100,-128,5,127}, float s = {0.02}, float[2] t = {0.01,0.03}, int8 z = {3}, int8[2] k = "
      "{1,-2}, float[2] b = {0.5,-0.25}, float r = {0.01}, int8 o = {1}";
  for (const char* const node : {"y = com.microsoft.MatMulIntegerToFloat(x, w, s, t)",
                                 "y = com.microsoft.MatMulIntegerToFloat(x, w, s, r, z, o)",
                                 "y = com.microsoft.MatMulIntegerToFloat(x, w, s, t, z, , b)"}) {
    SCOPED_TRACE(node);
    for (const int version : {10, 17}) {
      expect_spelled(model_of("int8[4,3] x", "float[4,2] y", weights, node, version), code, 1e-5);
    }
  }
  // Scales that are computed.
  expect_spelled(model_of("int8[4,3] x, float a", "float[4,2] y", weights,
                          "y = com.microsoft.MatMulIntegerToFloat(x, w, a, t, z, , b)"),
                 code, 1e-5);
  for (const char* const node :
       {"y = com.microsoft.DynamicQuantizeMatMul(x, w, t)", "y = com.microsoft.DynamicQuantizeMatMul(x, w, t, , b)",
        "y = com.microsoft.DynamicQuantizeMatMul(x, w, r, o, b)"}) {
    SCOPED_TRACE(node);
    expect_spelled(model_of("float[4,3] x", "float[4,2] y", weights, node), sine, 1e-5);
  }
}

TEST(SpellFused, others_stay_as_they_are) {
  const std::string rows = "float[4] g = {1,2,0.5,-1}";
  expect_as_it_is(model_of("float[3,5,4] x, float[3,5,4] s", "float[3,5,4] y, float[3,5,1] m", rows,
                           "y, m = com.microsoft.SkipLayerNormalization(x, s, g)"));
  expect_as_it_is(model_of("float[3,4] x", "float[3,4] y", rows, "y = com.microsoft.Gelu(x)", 9));
  expect_as_it_is(model_of("float[3,4] x", "float[3,4] y", rows,
                           "y = com.microsoft.BiasSoftmax<axis = 1, "
                           "is_inner_broadcast = 1>(x, g)"));
}

}  // namespace
}  // namespace assay::engine
