#include "engine/lowering/spell_deep_pool.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

double pool_sine(size_t i) { return std::sin(1.7 * static_cast<double>(i) + 2); }

std::string pool_model(std::mt19937& random, bool is_mean) {
  const auto up_to = [&](int most) { return static_cast<int>(1 + random() % static_cast<unsigned>(most)); };
  int kernel[3], pads[6], strides[3], dilations[3], size[3];
  for (int i = 0; i < 3; ++i) {
    kernel[i] = up_to(3);
    strides[i] = up_to(2);
    dilations[i] = up_to(2);
    pads[i] = std::min(kernel[i], up_to(3)) - 1;
    pads[i + 3] = std::min(kernel[i], up_to(3)) - 1;
    size[i] = dilations[i] * (kernel[i] - 1) + up_to(6);
  }
  std::string padding = fmt::format("pads = [{}]", fmt::join(pads, ","));
  if (up_to(4) == 1) padding = fmt::format("auto_pad = \"{}\"", up_to(2) == 1 ? "SAME_UPPER" : "VALID");
  return fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 19]> g (float[{},{},{},{},{}] x) => (float y) {{ y = {}<kernel_shape = "
      "[{}], strides = [{}], dilations = [{}], {}, ceil_mode = {}{}>(x) }}",
      up_to(2), up_to(20), size[0], size[1], size[2], is_mean ? "AveragePool" : "MaxPool", fmt::join(kernel, ","),
      fmt::join(strides, ","), fmt::join(dilations, ","), padding, up_to(2) - 1,
      is_mean ? fmt::format(", count_include_pad = {}", up_to(2) - 1) : "");
}

TEST(SpellDeepPool, DrawnPools) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const std::string text = pool_model(random, round % 2 == 0);
    const ir::Model model = testing_support::parsed(text);
    ir::Model spelled = model.copy();
    ir::Rewriter rewriter(spelled);
    spell_deep_pool(spelled, rewriter);
    EXPECT_EQ(rewriter.steps().size(), 1U) << text;
    const auto expected = testing_support::run_on_reference(model, pool_sine);
    const double most = round % 2 == 0 ? 1e-6 : 0;
    EXPECT_EQ(testing_support::difference(testing_support::run_on_reference(spelled, pool_sine), expected, most), "")
        << text;
    const testing_support::EngineRun run = testing_support::run_on_engine(model, pool_sine);
    EXPECT_EQ(testing_support::difference(run.outputs, expected, most), "") << text;
    // Means whose windows may end beyond the padding that they count are the reference's.
    const bool is_rare = text.find("ceil_mode = 1, count_include_pad = 1") != std::string::npos;
    EXPECT_EQ(std::ranges::count(run.tactics, "reference") != 0, is_rare) << text;
  }
}

TEST(SpellDeepPool, PlacesAreLeftAlone) {
  ir::Model model = testing_support::parsed(
      "<ir_version: 8, opset_import: [\"\" : 19]> g (float[1,2,4,4,4] x) => (float y, int64 i) { y, i = "
      "MaxPool<kernel_shape = [2,2,2]>(x) }");
  ir::Rewriter rewriter(model);
  spell_deep_pool(model, rewriter);
  EXPECT_EQ(rewriter.steps().size(), 0U);
}

}  // namespace
}  // namespace assay::engine
