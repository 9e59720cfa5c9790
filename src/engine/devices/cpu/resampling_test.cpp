#include <limits>

#include <gtest/gtest.h>

#include "engine/devices/cpu/resampling/grid_points.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;

double picture_sine(size_t i) { return 3 * std::sin(1.3 * static_cast<double>(i) + 1); }

void expect_tactic(const std::string& text, const std::string& tactic,
                   const std::function<double(size_t)>& number = picture_sine) {
  const ir::Model model = parsed("<ir_version: 10, opset_import: [\"\" : 19]> g " + text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_NE(std::ranges::find(run.tactics, tactic), run.tactics.end()) << text;
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, number), 2e-6), "") << text;
}

constexpr const char* kCoordinates[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                        "asymmetric"};

TEST(Resize, SumsOfNeighbours) {
  for (const char* const mode : {"linear", "cubic"}) {
    for (const char* const coordinates : kCoordinates) {
      for (const char* const more : {"", ", antialias = 1", ", exclude_outside = 1"}) {
        const std::string attributes =
            fmt::format("mode = \"{}\", coordinate_transformation_mode = \"{}\"{}", mode, coordinates, more);
        for (const char* const scales : {"1,1,2,2", "1,1,0.6,1.7", "2,1,1,0.3", "1,1.5,2.5,1"}) {
          expect_tactic(fmt::format("(float[2,3,5,7] x) => (float y) <float[4] s = {{{}}}> "
                                    "{{ y = Resize<{}>(x, , s) }}",
                                    scales, attributes),
                        "resize.sums");
        }
        expect_tactic(fmt::format("(float[4,9] x) => (float y) <int64[2] s = {{7,2}}> {{ y = Resize<{}>(x, , , s) }}",
                                  attributes),
                      "resize.sums");
      }
    }
  }
}

TEST(Resize, ChannelsThatAreInnermost) {
  expect_tactic(
      "(float[2,5,8,6] x) => (float y) <float[4] s = {1,1,2,1.5}> { p = MaxPool<kernel_shape = [2,2]>(x) "
      "y = Resize<mode = \"linear\">(p, , s) }",
      "resize.sums");
  expect_tactic(
      "(float[2,5,8,6] x) => (float y) <float[4] s = {1,1,2,3}> { p = MaxPool<kernel_shape = [2,2]>(x) "
      "y = Resize<mode = \"nearest\">(p, , s) }",
      "resize.nearest");
}

TEST(Resize, NearestInAllWaysOfCounting) {
  for (const char* const counting : {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"}) {
    for (const char* const rounding : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}) {
      for (const char* const sizes : {"1,3,7,5", "1,3,2,11", "1,3,1,1"}) {
        expect_tactic(
            fmt::format("(float[1,3,5,7] x) => (float y) <int64[4] s = {{{0}}}> {{ y = Resize<mode = \"nearest\", "
                        "coordinate_transformation_mode = \"{1}\", nearest_mode = \"{2}\">(x, , , s) }}",
                        sizes, counting, rounding),
            "resize.nearest");
      }
    }
  }
}

TEST(Resize, WholeMultiples) {
  for (const char* const dims : {"1,1,1,1", "2,3,5,4", "1,40,3,9"}) {
    for (const char* const type : {"float", "uint8", "double"}) {
      expect_tactic(fmt::format("({0}[{1}] x) => ({0} y) <float[4] s = {{1,1,3,2}}> "
                                "{{ y = Resize<mode = \"nearest\">(x, , s) }}",
                                type, dims),
                    "resize.nearest", [](size_t i) { return static_cast<double>(i % 200); });
    }
  }
}

// The few elements that a picture has before are moved, not the many that the model gives; elsewhere a Resize follows
// the layers before it.
TEST(Resampling, ResultsOfTheModelAreWrittenAsPlanes) {
  using Tactics = std::vector<std::string>;
  const std::string pool =
      "(float[1,21,6,5] x) => (float y) <float[4] s = {1, 1, 4, 3}> { p = MaxPool<kernel_shape = "
      "[3, 3], pads = [1, 1, 1, 1]>(x) ";
  const auto tactics = [&](const std::string& rest) {
    const ir::Model model =
        testing_support::parsed("<ir_version: 10, opset_import: [\"\" : 19]> g " + pool + rest + " }");
    const testing_support::EngineRun run = testing_support::run_on_engine(model, picture_sine);
    EXPECT_EQ(testing_support::difference(run.outputs, testing_support::run_on_reference(model, picture_sine), 1e-5),
              "");
    return run.tactics;
  };
  EXPECT_EQ(tactics("y = Resize<mode = \"linear\">(p, , s)"),
            (Tactics{"copy", "pool.channels_last", "copy", "resize.sums"}));
  EXPECT_EQ(tactics("r = Resize<mode = \"linear\">(p, , s) y = MaxPool<kernel_shape = [2, 2]>(r)"),
            (Tactics{"copy", "pool.channels_last", "resize.sums", "pool.channels_last", "copy"}));
}

TEST(GridSample, ModesAndPaddings) {
  for (const char* const mode : {"bilinear", "nearest"}) {
    for (const char* const padding : {"zeros", "border", "reflection"}) {
      for (const int corners : {0, 1}) {
        for (const char* const dims : {"1,1,1,1", "2,3,5,7", "1,9,4,1"}) {
          const char batch = dims[0];
          expect_tactic(fmt::format("(float[{0}] x, float[{1},6,3,2] g) => (float y) {{ y = GridSample<mode = \"{2}\", "
                                    "padding_mode = \"{3}\", align_corners = {4}>(x, g) }}",
                                    dims, batch, mode, padding, corners),
                        "grid_sample.points");
        }
      }
    }
  }
}

// Points of several blocks, in pictures of few channels.
TEST(GridSample, ManyPoints) {
  for (const char* const padding : {"zeros", "border"}) {
    for (const int corners : {0, 1})
      expect_tactic(fmt::format("(float[3,2,6,5] x, float[3,9,15,2] g) => (float y) {{ y = GridSample<padding_mode = "
                                "\"{}\", align_corners = {}>(x, g) }}",
                                padding, corners),
                    "grid_sample.points");
  }
}

// Elements and weights by hand: of 4 x 4 elements, the point lies between columns 1 and 2 of rows 0 and 1, or outside.
TEST(GridKernels, FindElementsAndWeights) {
  for (const GridKernels* const kernels : all_grid_kernels()) {
    GridPoints points;
    const float places[] = {0, -0.5F, 3, 0};
    kernels->find({.height = 4, .width = 4, .aligns_corners = false, .has_border = false}, places, 2, points);
    const int32_t elements[] = {1, 2, 5, 6};
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(points.elements[i][0], elements[i]) << kernels->name;
      EXPECT_EQ(points.weights[i][0], 0.25F) << kernels->name;
      EXPECT_EQ(points.weights[i][1], 0) << kernels->name;
    }
    const float plane[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    float sums[2];
    kernels->sum(points, plane, 2, sums);
    EXPECT_EQ(sums[0], 3.5F) << kernels->name;
    EXPECT_EQ(sums[1], 0) << kernels->name;
  }
}

// The first element of a plane weighs nothing where it does not count, also when it is no number.
TEST(GridSample, WhatIsNoNumber) {
  constexpr size_t kElements = 3 * 5 * 7;
  for (const double special : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    for (const size_t place : {size_t{0}, size_t{40}, kElements + 3}) {
      expect_tactic("(float[1,3,5,7] x, float[1,6,3,2] g) => (float y) { y = GridSample(x, g) }", "grid_sample.points",
                    [&](size_t i) { return i == place ? special : picture_sine(i); });
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
