#include "engine/lowering/spell_deep_conv.h"

#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

double deep_sine(size_t i) { return std::sin(1.9 * static_cast<double>(i) + 1); }

std::string deep_model(std::mt19937& random, int version, const std::string& more) {
  const auto up_to = [&](int most) { return static_cast<int>(1 + random() % static_cast<unsigned>(most)); };
  int kernel[3], pads[6], strides[3], dilations[3], size[3];
  for (int i = 0; i < 3; ++i) {
    kernel[i] = up_to(3);
    strides[i] = up_to(2);
    dilations[i] = up_to(2);
    pads[i] = up_to(3) - 1;
    pads[i + 3] = up_to(2) - 1;
    size[i] = dilations[i] * (kernel[i] - 1) + up_to(5);
  }
  const int channels = up_to(4);
  const int filters = up_to(5);
  std::string weights;
  for (int i = 0; i < filters * channels * kernel[0] * kernel[1] * kernel[2]; ++i) {
    weights += fmt::format("{}{}", i == 0 ? "" : ",", static_cast<int>(random() % 9) - 4);
  }
  return fmt::format(
      "<ir_version: 8, opset_import: [\"\" : {}]> g (float[{},{},{},{},{}] x, float[{}] b) => (float y) "
      "<float[{},{},{},{},{}] w = {{{}}}> {{ y = Conv<kernel_shape = [{},{},{}], strides = [{},{},{}], dilations = "
      "[{},{},{}], {}>(x, w, b) }}",
      version, up_to(2), channels, size[0], size[1], size[2], filters, filters, channels, kernel[0], kernel[1],
      kernel[2], weights, kernel[0], kernel[1], kernel[2], strides[0], strides[1], strides[2], dilations[0],
      dilations[1], dilations[2], more.empty() ? fmt::format("pads = [{}]", fmt::join(pads, ",")) : more);
}

uint64_t expect_same_results(const std::string& text) {
  const ir::Model model = testing_support::parsed(text);
  ir::Model spelled = model.copy();
  ir::Rewriter rewriter(spelled);
  spell_deep_conv(spelled, rewriter);
  EXPECT_EQ(testing_support::difference(testing_support::run_on_reference(spelled, deep_sine),
                                        testing_support::run_on_reference(model, deep_sine), 1e-6),
            "")
      << text;
  EXPECT_EQ(testing_support::difference(testing_support::run_on_engine(model, deep_sine).outputs,
                                        testing_support::run_on_reference(model, deep_sine), 1e-5),
            "")
      << text;
  return rewriter.steps().size();
}

TEST(SpellDeepConv, DrawnConvolutions) {
  std::mt19937 random(11);
  for (int round = 0; round < 150; ++round)
    EXPECT_EQ(expect_same_results(deep_model(random, round % 2 == 0 ? 11 : 22, "")), 1u);
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(expect_same_results(deep_model(random, 17, "auto_pad = \"VALID\"")), 1u);
    EXPECT_EQ(expect_same_results(deep_model(random, 17, "auto_pad = \"SAME_UPPER\"")), 0u);
  }
}

// Windows over the first dim only, also of groups.
TEST(SpellDeepConv, DrawnLines) {
  std::mt19937 random(5);
  const auto up_to = [&](int most) { return static_cast<int>(1 + random() % static_cast<unsigned>(most)); };
  for (int round = 0; round < 100; ++round) {
    const int kernel = up_to(3), dilation = up_to(2), groups = up_to(3), channels = up_to(3);
    const int filters = groups * up_to(3);
    std::string weights = "1";
    for (int i = 1; i < filters * channels * kernel; ++i) weights += fmt::format(",{}", up_to(9) - 5);
    const std::string text = fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 17]> g (float[{0},{1},{2},3,4] x, float[{3}] b) => (float y) "
        "<float[{3},{4},{5},1,1] w = {{{6}}}> {{ y = Conv<strides = [{7},1,1], dilations = [{8},1,1], group = {9}, "
        "pads "
        "= [{10},0,0,{11},0,0]>(x, w, b) }}",
        up_to(2), groups * channels, dilation * (kernel - 1) + up_to(5), filters, channels, kernel, weights, up_to(2),
        dilation, groups, up_to(3) - 1, up_to(2) - 1);
    EXPECT_EQ(expect_same_results(text), 1u);
  }
}

}  // namespace
}  // namespace assay::engine
