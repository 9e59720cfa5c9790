#include "convert/quantize/weight_only.h"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/model_checks.h"
#include "support/origin_checks.h"
#include "support/parsed_model.h"
#include "support/sound_model.h"
#include "tensor/elements.h"

namespace assay::convert {
namespace {

using testing_support::error_of;
using testing_support::parsed;
using testing_support::value_named;

struct Compressed {
  ir::Model model;
  WeightReport report;
  Diagnostics findings;

  std::string ops() const {
    std::string text;
    for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
      text += std::string(model.text(model[node].op)) + ' ';
    }
    return text;
  }
  std::string reason(std::string_view node) const {
    for (const WeightLayer& layer : report.layers) {
      if (layer.name == node) return layer.converted ? "compressed" : layer.reason;
    }
    return "no layer";
  }
  const tensor::Tensor& constant(std::string_view name) const {
    return model[model[value_named(model, name)].constant].tensor;
  }
};

Compressed compress(const std::string& text, const WeightOptions& options) {
  Compressed result{parsed(text), {}, Diagnostics()};
  const uint32_t first_made = result.model.node_slots();
  result.report = compress_weights(result.model, options, result.findings);
  EXPECT_EQ(testing_support::own_origins(result.model, first_made), "");
  EXPECT_EQ(testing_support::faults_of(result.model), "");
  EXPECT_FALSE(compress_weights(result.model, options, result.findings).changed);
  return result;
}

constexpr const char* kProduct =
    "net (float[1,2] x) => (float[1,2] y) <float[2,2] w = {127, 0, -64, 127}> { [layer] y = MatMul(x, w) }";

TEST(WeightOnly, OneScaleForEachOutputChannel) {
  const Compressed result = compress(kProduct, {});
  EXPECT_EQ(result.ops(), "DequantizeLinear MatMul ");
  EXPECT_EQ(result.reason("layer"), "compressed");
  EXPECT_EQ(result.constant("w_scale").shape(), tensor::Shape{2});
  EXPECT_EQ(result.constant("w_quantized").dtype(), tensor::DType::int8);
  EXPECT_EQ(result.report.bytes_before, 16U);
  EXPECT_EQ(result.report.bytes_after, 4U + 8U + 2U);
}

TEST(WeightOnly, BlocksOfInt4) {
  const Compressed result = compress(kProduct, {.bits = 4, .block_size = 16});
  EXPECT_EQ(result.constant("w_quantized").dtype(), tensor::DType::int4);
  EXPECT_EQ(result.constant("w_scale").shape(), (tensor::Shape{1, 2}));
  ASSERT_TRUE(result.report.layers[0].error);
  EXPECT_GT(result.report.layers[0].error->snr_db, 40);
}

TEST(WeightOnly, ScalesOfBlocksAreSuchAsFloat16Has) {
  constexpr const char* kText =
      "net (float[1,2] x) => (float[1,2] y) <float[2,2] w = {0.7, 0.13, -0.35, 1.27}> { [layer] y = MatMul(x, w) }";
  for (const bool asymmetric : {false, true}) {
    for (const uint32_t bits : {4U, 8U}) {
      const Compressed result = compress(kText, {.bits = bits, .block_size = 16, .asymmetric = asymmetric});
      for (const double scale : tensor::load_elements<double>(result.constant("w_scale"))) {
        int exponent = 0;
        const double fraction = std::frexp(scale, &exponent) * 2048;
        EXPECT_EQ(fraction, std::nearbyint(fraction)) << bits << " bits, " << scale;
      }
    }
  }
}

TEST(WeightOnly, AScaleBelowZeroGivesTheLowestCodeToTheLargestNumber) {
  const Compressed result =
      compress("net (float[1,2] x) => (float[1,1] y) <float[2,1] w = {8, -7}> { [layer] y = MatMul(x, w) }",
               {.bits = 4, .block_size = 16});
  EXPECT_EQ(tensor::load_elements<double>(result.constant("w_scale")), std::vector<double>{-1});
  EXPECT_EQ(tensor::load_elements<int64_t>(result.constant("w_quantized")), (std::vector<int64_t>{-8, 7}));
}

TEST(WeightOnly, LayoutOfMatMulNBits) {
  const Compressed result =
      compress(kProduct, {.bits = 8, .block_size = 16, .asymmetric = false, .form = WeightForm::matmulnbits});
  EXPECT_EQ(result.ops(), "MatMulNBits ");
  const tensor::Tensor& codes = result.constant("w_quantized");
  EXPECT_EQ(codes.shape(), (tensor::Shape{2, 1, 16}));
  EXPECT_EQ(codes.bytes()[0], std::byte{255});
  EXPECT_EQ(codes.bytes()[1], std::byte{128 - 64});
  EXPECT_EQ(codes.bytes()[16], std::byte{128});
  EXPECT_EQ(codes.bytes()[17], std::byte{255});
}

TEST(WeightOnly, TheOtherFormWhereTheOperatorSetIsTooOld) {
  const auto ops = [](int version, WeightForm form) {
    ir::Model model = parsed(fmt::format("<ir_version: 7, opset_import: [\"\" : {}]> {}", version, kProduct).c_str());
    Diagnostics findings;
    compress_weights(model, {.bits = 4, .block_size = 16, .asymmetric = false, .form = form}, findings);
    return Compressed{std::move(model), {}, Diagnostics()}.ops();
  };
  EXPECT_EQ(ops(13, WeightForm::either), "MatMulNBits ");
  EXPECT_EQ(ops(21, WeightForm::either), "DequantizeLinear MatMul ");
  const std::optional<Error> error = error_of([&] { ops(20, WeightForm::dequantize); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unsupported);
}

TEST(WeightOnly, ChannelsOfATransposedConvolutionLieAcross) {
  const Compressed result = compress(R"(net (float[1,2,1,1] x) => (float[1,2,1,2] y)
    <float[2,2,1,2] w = {21, 64, 32, 64, -42, 127, 127, -16}> { [layer] y = ConvTranspose(x, w) })",
                                     {});
  EXPECT_EQ(result.reason("layer"), "compressed");
  const tensor::Bytes codes = result.constant("w_quantized").bytes();
  const std::vector<std::byte> seen(codes.begin(), codes.end());
  // Scales are 1.
  const std::vector<std::byte> expected = {std::byte{21},  std::byte{64},  std::byte{32},  std::byte{64},
                                           std::byte{214}, std::byte{127}, std::byte{127}, std::byte{240}};
  EXPECT_EQ(seen, expected);
}

TEST(WeightOnly, WhatHasNoForm) {
  const char* text = R"(net (float[1,2,2,2] x) => (float[1,2,2,2] y) <float[2,2,1,1] w = {1, 2, 3, 4}>
    { [conv] a = Conv(x, w)  [back] y = ConvTranspose(a, w) })";
  const Compressed whole = compress(text, {});
  EXPECT_EQ(whole.reason("conv"), "compressed");
  EXPECT_EQ(whole.reason("back"), "compressed");
  const Compressed blocks = compress(text, {.bits = 4, .block_size = 32});
  EXPECT_EQ(blocks.reason("conv"), "blocks are for matrices");
  EXPECT_EQ(compress(kProduct, {.choice = {.excluded = {"layer"}}}).reason("layer"), "excluded by name");
}

TEST(WeightOnly, RefusesOperatorSetsWithoutIt) {
  const std::string old = fmt::format("<ir_version: 8, opset_import: [\"\" : 20]> {}", kProduct);
  const auto error = error_of([&] { compress(old, {.bits = 4, .block_size = 32}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unsupported);
  EXPECT_EQ(compress(old, {}).reason("layer"), "compressed");
}

}  // namespace
}  // namespace assay::convert
