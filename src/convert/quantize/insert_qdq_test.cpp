#include "convert/quantize/insert_qdq.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/model_checks.h"
#include "support/origin_checks.h"
#include "support/parsed_model.h"
#include "support/sound_model.h"

namespace assay::convert {
namespace {

using testing_support::error_of;
using testing_support::parsed;
using testing_support::saved;
using testing_support::value_named;

struct Quantized {
  ir::Model model;
  QdqReport report;
  Diagnostics findings;

  std::string ops() const {
    std::string text;
    for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
      const std::string_view op = model.text(model[node].op);
      text += op == "QuantizeLinear" ? "Q " : op == "DequantizeLinear" ? "DQ " : std::string(op) + ' ';
    }
    return text;
  }
  std::string reason(std::string_view node) const {
    for (const Layer& layer : report.layers) {
      if (layer.name == node) return layer.converted ? "quantized" : layer.reason;
    }
    return "no layer";
  }
  template <typename T>
  std::vector<T> numbers(std::string_view name) const {
    const tensor::Bytes bytes = model[model[value_named(model, name)].constant].tensor.bytes();
    const T* begin = reinterpret_cast<const T*>(bytes.data());
    return {begin, begin + bytes.size() / sizeof(T)};
  }
};

calibrate::Ranges unit_ranges() {
  calibrate::Ranges ranges;
  for (const char* name : {"x", "y", "a", "b", "c", "d", "e", "f"}) ranges[name] = {-127, 127};
  return ranges;
}

// Whatever comes out is sound, and is not changed a second time.
Quantized quantize(const std::string& text, const QdqOptions& options = {},
                   const calibrate::Ranges& ranges = unit_ranges()) {
  Quantized result{parsed(text), {}, Diagnostics()};
  const uint32_t first_made = result.model.node_slots();
  result.report = insert_qdq(result.model, options, ranges, result.findings);
  EXPECT_EQ(testing_support::own_origins(result.model, first_made), "");
  EXPECT_EQ(testing_support::faults_of(result.model), "");
  EXPECT_FALSE(insert_qdq(result.model, options, ranges, result.findings).changed);
  return result;
}

constexpr const char* kTwoLayers = R"(net (float[1,2] x) => (float[1,2] y)
  <float[2,2] w = {64, 127, 190, 254}, float[2] v = {1, 256}, float[2,2] u = {1, 0, 0, 1}>
  { [first] a = Gemm<transB = 1>(x, w, v)  b = Relu(a)  [second] y = MatMul(b, u) })";

TEST(InsertQdq, RoundsWhatComesInAndMergesActivations) {
  const Quantized result = quantize(kTwoLayers);
  EXPECT_EQ(result.ops(), "Q DQ DQ Gemm Relu Q DQ DQ MatMul ");
  EXPECT_EQ(result.reason("first"), "quantized");
  EXPECT_EQ(result.report.activations, 2U);
  EXPECT_EQ(result.report.weights, 2U);
}

TEST(InsertQdq, WeightsHaveAScaleForEachOutputChannel) {
  const Quantized result = quantize(kTwoLayers);
  EXPECT_EQ(result.numbers<float>("w_scale"), (std::vector<float>{1, 2}));
  EXPECT_EQ(result.numbers<int8_t>("w_quantized"), (std::vector<int8_t>{64, 127, 95, 127}));
}

TEST(InsertQdq, BiasesHaveTheScaleOfTheProducts) {
  calibrate::Ranges ranges = unit_ranges();
  ranges["x"] = {0, 255};
  const Quantized result = quantize(kTwoLayers, {.codes = QdqCodes::uint8}, ranges);
  EXPECT_EQ(result.ops(), "Q DQ DQ DQ Gemm Relu Q DQ DQ MatMul ");
  // 1 / (1 * 1), 256 / (1 * 2)
  EXPECT_EQ(result.numbers<int32_t>("v_quantized"), (std::vector<int32_t>{1, 128}));
}

TEST(InsertQdq, SoHasWhatIsAddedToAProduct) {
  calibrate::Ranges ranges = unit_ranges();
  ranges["x"] = {0, 255};
  const Quantized result = quantize(R"(net (float[2,2] x) => (float[2,2] y) <float[2,2] w = {127, 1, 0, 127},
    float[2] v = {3, -5}> { [product] a = MatMul(x, w)  [bias] y = Add(v, a) })",
                                    {.codes = QdqCodes::uint8}, ranges);
  EXPECT_EQ(result.ops(), "Q DQ DQ DQ MatMul Add ");
  EXPECT_EQ(result.numbers<int32_t>("v_quantized"), (std::vector<int32_t>{3, -5}));
}

TEST(InsertQdq, OneScaleForAWholeWeight) {
  const Quantized result =
      quantize("net (float[1,2] x) => (float[1,2] y) <float[2,2] w = {64, 126, 190, 254}> { y = MatMul(x, w) }",
               {.per_channel = false});
  EXPECT_EQ(result.numbers<float>("w_scale"), (std::vector<float>{2}));
  EXPECT_EQ(result.numbers<int8_t>("w_quantized"), (std::vector<int8_t>{32, 63, 95, 127}));
}

TEST(InsertQdq, ConvolutionsGiveIntegersButOutputsStayFloat) {
  const Quantized result = quantize(R"(net (float[1,1,4,4] x) => (float[1,1,4,4] y)
    <float[1,1,1,1] w = {1}> { a = Conv(x, w)  b = Sigmoid(a)  y = Conv(b, w) })");
  EXPECT_EQ(result.ops(), "Q DQ DQ Conv Q DQ Sigmoid Q DQ Conv ");
  EXPECT_EQ(result.report.weights, 1U) << "a shared weight is converted once";
}

TEST(InsertQdq, ConvolutionsBeforeBatchNormalizationWaitForIt) {
  const Quantized result = quantize(R"(net (float[1,1,4,4] x) => (float[1,1,4,4] y)
    <float[1,1,1,1] w = {1}, float[1] s = {1}>
    { a = Conv(x, w)  b = BatchNormalization(a, s, s, s, s)  y = Neg(b) })");
  EXPECT_EQ(result.ops(), "Q DQ DQ Conv BatchNormalization Neg ");
}

TEST(InsertQdq, WhatStandsBetweenIntegerNodesIsOneToo) {
  const char* residual = R"(net (float[1,1,4,4] x) => (float[1,1,4,4] y) <float[1,1,1,1] w = {1}>
    { a = Conv(x, w)  [sum] b = Add(a, x)  c = Relu(b)  d = MaxPool<kernel_shape = [1,1]>(c)  y = Conv(d, w) })";
  const Quantized result = quantize(residual);
  EXPECT_EQ(result.reason("sum"), "quantized");
  EXPECT_EQ(result.ops(), "Q DQ DQ Conv Q DQ Add Relu Q DQ MaxPool Q DQ Conv ");
}

TEST(InsertQdq, MovedNumbersKeepTheirScale) {
  calibrate::Ranges ranges = unit_ranges();
  ranges["a"] = {-254, 254};
  ranges.erase("b");
  const Quantized result = quantize(R"(net (float[2,2] x) => (float[2,2] y) <float[2,2] w = {1, 1, 1, 1}>
    { a = Exp(x)  b = Transpose(a)  y = MatMul(b, w) })",
                                    {}, ranges);
  EXPECT_EQ(result.ops(), "Exp Q DQ Transpose Q DQ DQ MatMul ");
  EXPECT_EQ(result.numbers<float>("b_scale"), std::vector<float>{2});
}

TEST(InsertQdq, WhatIsNotWorthItStays) {
  const Quantized result = quantize(R"(net (float[2,2] x) => (float[2,2] y) <float[2,2] w = {1, 1, 1, 1}>
    { [product] a = MatMul(x, w)  [bias] b = Add(a, w)  [sum] c = Add(b, x)  d = Softmax(c)
      [both] y = MatMul(d, b) })");
  EXPECT_EQ(result.reason("product"), "quantized");
  EXPECT_EQ(result.reason("bias"), "a constant operand would lose accuracy for nothing");
  EXPECT_EQ(result.reason("sum"), "its result is used as float");
  EXPECT_EQ(result.reason("both"), "quantized");
}

TEST(InsertQdq, ExcludedNodesAndUnknownRangesStayFloat) {
  EXPECT_EQ(quantize(kTwoLayers, {.choice = {.excluded = {"first"}}}).reason("first"), "excluded by name");
  EXPECT_EQ(quantize(kTwoLayers, {.choice = {.excluded_ops = {"gemm"}}}).reason("first"), "excluded by its operator");
  EXPECT_EQ(quantize(kTwoLayers, {.choice = {.only_ops = {"Gemm"}}}).reason("second"), "excluded by its operator");
  calibrate::Ranges ranges = unit_ranges();
  ranges.erase("b");
  const Quantized result = quantize(kTwoLayers, {}, ranges);
  EXPECT_EQ(result.reason("second"), "the range of `b` is not known");
  EXPECT_EQ(result.reason("first"), "quantized");
  const auto misspelled = error_of([] { quantize(kTwoLayers, {.choice = {.only_ops = {"Gem"}}}); });
  ASSERT_TRUE(misspelled);
  EXPECT_NE(misspelled->line().find("did you mean `Gemm`"), std::string::npos);
}

TEST(InsertQdq, QuantizedNodesStayAsTheyAre) {
  const Quantized result = quantize(R"(net (int8[1,2] q) => (float[1,2] y) <float s = {1}, float[2,2] w = {1, 1, 1, 1}>
    { x = DequantizeLinear(q, s)  [done] y = MatMul(x, w) })");
  EXPECT_EQ(result.reason("done"), "it is quantized already");
  EXPECT_FALSE(result.report.changed);
}

TEST(InsertQdq, NothingToConvertLeavesEveryByte) {
  const char* text = "net (float[2] x) => (float[2] y) { y = Exp(x) }";
  const Quantized result = quantize(text);
  EXPECT_EQ(saved(result.model), saved(parsed(text)));
}

TEST(InsertQdq, BiasesOfStackedProductsGetTheirDims) {
  const auto shape_of_bias = [](int version, std::string_view name, const QdqOptions& options) {
    const Quantized result = quantize(
        fmt::format("<ir_version: 10, opset_import: [\"\" : {}]> net (float[2,3,2] x) => (float[2,3,2] y)"
                    " <float[2,2] w = {{1, 1, 1, 1}}, float[2] v = {{1, 2}}> {{ a = MatMul(x, w)  y = Add(a, v) }}",
                    version),
        options);
    return result.model[result.model[value_named(result.model, name)].constant].tensor.shape();
  };
  EXPECT_EQ(shape_of_bias(21, "v_stacked", {}), (tensor::Shape{1, 1, 2}));
  EXPECT_EQ(shape_of_bias(20, "v", {}), tensor::Shape{2});
  EXPECT_EQ(shape_of_bias(21, "v_quantized", {.codes = QdqCodes::uint8}), tensor::Shape{2});
}

TEST(InsertQdq, BodiesStayFloat) {
  const Quantized result = quantize(R"(net (bool c, float[2,2] x) => (float[2,2] y) <float[2,2] w = {1, 1, 1, 1}> {
    y = If(c) <then_branch = t () => (float[2,2] p) { [inner] p = MatMul(x, w) }, else_branch = e () => (float[2,2] q)
    { q = Identity(x) }> })");
  EXPECT_EQ(result.reason("inner"), "it is in the body of another node");
}

TEST(InsertQdq, RefusesOperatorSetsWithoutIt) {
  const auto at = [](int version) {
    return error_of(
        [version] { quantize(fmt::format("<ir_version: 7, opset_import: [\"\" : {}]> {}", version, kTwoLayers)); });
  };
  ASSERT_TRUE(at(9));
  EXPECT_EQ(at(9)->code(), ErrorCode::unsupported);
  ASSERT_TRUE(at(12));
  EXPECT_NE(at(12)->line().find("no scales per channel"), std::string::npos);
  const std::string old = std::string("<ir_version: 7, opset_import: [\"\" : 12]> ") + kTwoLayers;
  EXPECT_EQ(quantize(old, {.per_channel = false}).report.weights, 2U);
}

TEST(InsertQdq, BadWeightsStayFloat) {
  Quantized result{parsed(kTwoLayers), {}, Diagnostics()};
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> numbers = {1, infinity, 0, 1};
  ir::Edit(result.model)
      .set_tensor(result.model[value_named(result.model, "w")].constant,
                  tensor::make_tensor<float>(tensor::DType::float32, {2, 2}, numbers));
  result.report = insert_qdq(result.model, {}, unit_ranges(), result.findings);
  EXPECT_EQ(result.reason("first"), "its weight has NaN or infinity");
}

TEST(Quantizer, ScalesAreAboveZero) {
  EXPECT_EQ(quantizer_of({0, 0}, QdqCodes::int8).scale, 1);
  EXPECT_EQ(quantizer_of({0, 0}, QdqCodes::uint8).scale, 1);
  EXPECT_EQ(quantizer_of({0, 1e-45}, QdqCodes::int8).scale, std::numeric_limits<float>::min());
}

TEST(Quantizer, AsymmetricRangesHoldZero) {
  const Quantizer quantizer = quantizer_of({-51, 204}, QdqCodes::uint8);
  EXPECT_EQ(quantizer.scale, 1);
  EXPECT_EQ(quantizer.zero_point, 51);
  EXPECT_EQ(quantizer_of({10, 255}, QdqCodes::uint8).zero_point, 0);
  EXPECT_EQ(quantizer_of({-255, -10}, QdqCodes::uint8).zero_point, 255);
}

}  // namespace
}  // namespace assay::convert
