#include <limits>

#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;

struct Facts {
  const char* mode = "avg";
  const char* counting = "half_pixel";
  int ratio = 2;
  int channels = 11;
};

// Over two pictures of 7 x 9 pixels at half the scale of the regions, some of which are partly or wholly outside,
// smaller than a pixel, empty, or turned around.
std::string model(const Facts& facts) {
  constexpr const char* kRegions = "2, 1, 13, 12, -6, -5, 7, 9, 4, 4, 4.5, 4.25, 16, 10, 3, 1, -300, -90, 400, 600";
  return fmt::format(
      "<ir_version: 10, opset_import: [\"\" : 19]> g (float[2,{},7,9] x) => (float y) "
      "<float[5,4] r = {{{}}}, int64[5] i = {{0, 1, 0, 1, 1}}> {{ y = RoiAlign<mode = \"{}\", "
      "coordinate_transformation_mode = \"{}\", sampling_ratio = {}, output_height = 3, output_width = 2, "
      "spatial_scale = 0.5>(x, r, i) }}",
      facts.channels, kRegions, facts.mode, facts.counting, facts.ratio);
}

double sine(size_t i) { return 3 * std::sin(1.3 * static_cast<double>(i) + 1); }

void compare(const Facts& facts, const std::function<double(size_t)>& number = sine) {
  const std::string text = model(facts);
  const ir::Model made = parsed(text);
  const testing_support::EngineRun run = testing_support::run_on_engine(made, number);
  EXPECT_NE(std::ranges::find(run.tactics, "roi_align.bins"), run.tactics.end()) << text;
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(made, number), 2e-6), "") << text;
}

TEST(RoiAlign, ModesRatiosAndChannels) {
  for (const char* const mode : {"avg", "max"}) {
    for (const char* const counting : {"half_pixel", "output_half_pixel"}) {
      for (const int ratio : {0, 1, 2, 3, 19}) {
        for (const int channels : {1, 3, 8, 70})
          compare({.mode = mode, .counting = counting, .ratio = ratio, .channels = channels});
      }
    }
  }
}

TEST(RoiAlign, WhatIsNoNumber) {
  for (const char* const mode : {"avg", "max"}) {
    for (const double special : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
      for (const size_t place : {size_t{0}, size_t{40}, size_t{200}}) {
        compare({.mode = mode, .channels = 3}, [&](size_t i) { return i == place ? special : sine(i); });
      }
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
