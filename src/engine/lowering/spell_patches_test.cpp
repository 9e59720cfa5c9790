#include "engine/lowering/spell_patches.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

// The steps that a convolution of two pictures takes, with windows of 9 x 10 pixels.
size_t steps_of(const std::string& attributes, const std::string& dims = "2,3,27,40", const std::string& bias = ", b") {
  const ir::Model model = testing_support::parsed(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[{}] x, float[5,3,9,10] other) => (float[k,l,m,n] y) "
      "<float[5] b = "
      "{{1,-2,3,4,0.5}}, float[5,3,9,10] w = {{{}}}> {{ c = Conv <{}> (x, w{}) y = Relu(c) }}",
      dims,
      [] {
        std::string text;
        for (int i = 0; i < 5 * 3 * 90; ++i) text += fmt::format("{}{}", i == 0 ? "" : ",", (i * 37 % 21 - 10) / 16.0);
        return text;
      }(),
      attributes, bias));
  ir::Model changed = model.copy();
  ir::Rewriter rewriter(changed);
  spell_patches(changed, rewriter);
  const auto expected = testing_support::run_on_reference(model, testing_support::sine);
  const auto seen = testing_support::run_on_reference(changed, testing_support::sine);
  EXPECT_EQ(testing_support::difference(seen, expected, 1e-5), "") << attributes;
  const testing_support::EngineRun run = testing_support::run_on_engine(model, testing_support::sine);
  EXPECT_EQ(testing_support::difference(run.outputs, expected, 1e-5), "") << attributes;
  EXPECT_EQ(std::ranges::count(run.tactics, "reference"), 0) << attributes;
  return rewriter.steps().size();
}

TEST(SpellPatches, WindowsSideBySide) {
  EXPECT_EQ(steps_of("strides = [9,10]"), 1u);
  EXPECT_EQ(steps_of("strides = [9,10], pads = [0,0,0,0], auto_pad = \"NOTSET\"", "1,3,9,10", ""), 1u);
}

// Kernels of the engine have room for so many pixels of windows of few channels.
TEST(SpellPatches, LeavesOthersAlone) {
  EXPECT_EQ(steps_of("strides = [9,9]"), 0u);
  EXPECT_EQ(steps_of("strides = [9,10]", "2,3,28,40"), 0u);
  EXPECT_EQ(steps_of("strides = [9,10], pads = [0,1,0,9]"), 0u);
  EXPECT_EQ(steps_of("strides = [9,10], auto_pad = \"SAME_UPPER\""), 0u);
}

}  // namespace
}  // namespace assay::engine
