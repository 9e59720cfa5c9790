#include "engine/devices/cpu/tiles/windows.h"

#include <bit>
#include <vector>

#include <gtest/gtest.h>

namespace assay::engine::cpu {
namespace {

ConvGeometry picture(int64_t height, int64_t width, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad) {
  const auto out = [&](int64_t size) { return (size + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1; };
  return {.batch = 2,
          .channels = 1,
          .height = height,
          .width = width,
          .out_channels = 1,
          .out_height = out(height),
          .out_width = out(width),
          .groups = 1,
          .kernel_height = kernel,
          .kernel_width = kernel,
          .stride_y = stride,
          .stride_x = stride,
          .dilation_y = dilation,
          .dilation_x = dilation,
          .pad_top = pad,
          .pad_left = pad,
          .pad_bottom = pad,
          .pad_right = pad};
}

int64_t pixel_count(const ConvGeometry& g) { return g.batch * g.out_height * g.out_width; }

TEST(Windows, PlacesThatAreLeftOutArePadding) {
  for (const ConvGeometry& g : {picture(7, 7, 3, 1, 1, 1), picture(9, 6, 3, 2, 1, 1), picture(11, 8, 5, 1, 1, 2),
                                picture(8, 8, 3, 1, 3, 3), picture(5, 5, 2, 1, 1, 3), picture(1, 1, 3, 1, 1, 1)}) {
    const Windows windows(g, 4, std::byte{0});
    const std::vector<float> numbers(static_cast<size_t>(g.batch * g.height * g.width), 1);
    const auto places = static_cast<size_t>(g.kernel_height * g.kernel_width);
    for (int64_t pixel = 0; pixel < pixel_count(g); ++pixel) {
      std::vector<const float*> found(places);
      windows.find(reinterpret_cast<const std::byte*>(numbers.data()), {pixel, 1}, found.data());
      const uint64_t within = windows.places_within(pixel);
      EXPECT_EQ(within >> places, 0U);
      for (size_t i = 0; i < places; ++i) {
        const bool is_padding = *found[i] == 0;
        EXPECT_TRUE((within >> i & 1) != 0 || is_padding) << pixel << " " << i;
      }
    }
  }
}

TEST(Windows, TheBorderOfAPictureReadsTwoLinesOrColumns) {
  const ConvGeometry g = picture(7, 7, 3, 1, 1, 1);
  const Windows windows(g, 4, std::byte{0});
  std::vector<int64_t> counts(10);
  for (int64_t pixel = 0; pixel < pixel_count(g); ++pixel)
    ++counts[static_cast<size_t>(std::popcount(windows.places_within(pixel)))];
  EXPECT_EQ(counts, (std::vector<int64_t>{0, 0, 0, 0, 0, 0, 48, 0, 0, 50}));
  for (const auto& [first, step] : {std::pair(0, 1), {6, 7}, {48, -1}, {42, -7}}) {
    for (int64_t i = 1; i < 6; ++i)
      EXPECT_EQ(windows.places_within(first + i * step), windows.places_within(first)) << first << " " << i;
  }
}

}  // namespace
}  // namespace assay::engine::cpu
