#include "engine/devices/cpu/winograd/winograd_plans.h"

#include <gtest/gtest.h>

namespace assay::engine::cpu {
namespace {

ConvGeometry square_geometry(int64_t channels, int64_t side) {
  return {1, channels, side, side, channels, side, side, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
}

std::string guess(const ConvGeometry& g, int64_t most_results) {
  const auto is_exact = [&](const WinogradForm& form) { return static_cast<int64_t>(form.out) <= most_results; };
  const std::optional<WinogradPlan> plan = winograd_plan(g, winograd_forms(), "", is_exact);
  return plan ? plan->name() : "direct";
}

TEST(WinogradPlans, TheLargestFormThatIsExactEnoughIsTaken) {
  const ConvGeometry g = square_geometry(64, 80);
  EXPECT_EQ(guess(g, 4), "lanes/4");
  EXPECT_EQ(guess(g, 2), "lanes/2");
  EXPECT_EQ(guess(g, 0), "direct");
}

TEST(WinogradPlans, ANamedOneHasToBeExactEnoughToo) {
  const ConvGeometry g = square_geometry(64, 80);
  EXPECT_TRUE(winograd_plan(g, winograd_forms(), "lanes/2", [](const WinogradForm&) { return true; }));
  EXPECT_FALSE(winograd_plan(g, winograd_forms(), "lanes/2", [](const WinogradForm&) { return false; }));
  EXPECT_FALSE(winograd_plan(g, winograd_forms(), "lanes/3", [](const WinogradForm&) { return true; }));
}

// Reading four times the weights takes longer than the multiplications that are saved.
TEST(WinogradPlans, FewPixelsOfManyChannelsTakeSmallForms) { EXPECT_EQ(guess(square_geometry(512, 7), 4), "stages/2"); }

}  // namespace
}  // namespace assay::engine::cpu
