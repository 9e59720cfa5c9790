#include "engine/lowering/join_depthwise.h"

#include <gtest/gtest.h>

#include "support/lowered_layers.h"

namespace assay::engine {
namespace {

// The operators of a lowered model, as layers are called, for a device that wants pairs of so many results.
std::vector<std::string> operators(const std::string& text, int64_t most = 400) {
  return testing_support::lowered_layers(
      "<ir_version: 10, opset_import: [\"\" : 22]> " + text,
      {.computes = {tensor::DType::float32, tensor::DType::float16, tensor::DType::bfloat16}, .most_depthwise = most});
}

using Names = std::vector<std::string>;

TEST(JoinDepthwise, TakesTheNextConvolutionWithWhatFollowsBoth) {
  const std::string head =
      "g (float16[1,8,7,7] x, float16[8,1,3,3] a, float16[4,8,1,1] b, float16[1,4,7,7] r) => (float16[1,4,7,7] z) ";
  const std::string constants =
      "g (float16[1,8,7,7] x, float16[1,4,7,7] r) => (float16[1,4,7,7] z) <float16[1] one = {1}, float16 low = {0}, "
      "int64[4] of_a = {8,1,3,3}, int64[4] of_b = {4,8,1,1}> { a = Expand(one, of_a) b = Expand(one, of_b) ";
  const std::string both =
      "c = Conv<group = 8, pads = [1,1,1,1]>(x, a) d = Clip(c, low) p = Conv(d, b) z = Add(p, r) }";
  EXPECT_EQ(operators(constants + both), Names{"Conv_Clip_Conv_Add"});
  EXPECT_EQ(operators(constants + both, 392), Names{"Conv_Clip_Conv_Add"});
  EXPECT_EQ(operators(constants + both, 391), (Names{"Conv_Clip", "Conv_Add"}));
  EXPECT_EQ(operators(constants + both, 0), (Names{"Conv_Clip", "Conv_Add"}));
  EXPECT_EQ(operators(head + "{ " + std::string(both).replace(both.find("Clip(c, low)"), 12, "Relu(c)")),
            (Names{"Conv_Relu", "Conv_Add"}));  // weights that are computed
}

// A third convolution, a value that is read twice or given out, and another number that is computed.
TEST(JoinDepthwise, LeavesApart) {
  const auto model = [](const std::string& outputs, const std::string& nodes) {
    return "g (float16[1,8,7,7] x, float16[1,8,7,7] y) => (" + outputs +
           ") <float16[1] one = {1}, int64[4] of_a = {8,1,3,3}, int64[4] of_b = {8,8,1,1}> { "
           "a = Expand(one, of_a) b = Expand(one, of_b) c = Conv<group = 8, pads = [1,1,1,1]>(x, a) " +
           nodes + " }";
  };
  const std::string z = "float16[1,8,7,7] z";
  EXPECT_EQ(operators(model(z, "d = Conv(c, b) z = Conv(d, b)")), (Names{"Conv_Conv", "Conv"}));
  EXPECT_EQ(operators(model(z, "d = Relu(c) e = Conv(d, b) z = Mul(e, d)")), (Names{"Conv_Relu", "Conv_Mul"}));
  EXPECT_EQ(operators(model(z + ", float16[1,8,7,7] c", "z = Conv(c, b)")), (Names{"Conv", "Conv"}));
  EXPECT_EQ(operators(model(z, "d = Add(c, y) z = Conv(d, b)")), (Names{"Conv_Add", "Conv"}));
  EXPECT_EQ(operators(model("float16[1,8,4,4] z", "z = Conv<strides = [2,2]>(c, b)")), (Names{"Conv", "Conv"}));
}

}  // namespace
}  // namespace assay::engine
