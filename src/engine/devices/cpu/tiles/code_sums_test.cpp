#include "engine/devices/cpu/tiles/code_sums.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace assay::engine::cpu {
namespace {

std::vector<std::byte> drawn(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> codes(static_cast<size_t>(count));
  for (std::byte& code : codes) code = static_cast<std::byte>(random() % 3 == 0 ? 255 : random() % 256);
  return codes;
}

int32_t number(std::byte code, bool is_signed) {
  return is_signed ? static_cast<int8_t>(code) : std::to_integer<int32_t>(code);
}

TEST(CodeSums, OfRows) {
  for (const int64_t depth : {1, 3, 15, 16, 17, 64, 770, 70000}) {
    for (const bool is_signed : {false, true}) {
      constexpr int64_t kRows = 5;
      const int64_t row = depth + 2;
      const std::vector<std::byte> codes = drawn(kRows * row, 1);
      std::vector<int32_t> sums(kRows), expected(kRows);
      for (int64_t i = 0; i < kRows * depth; ++i)
        expected[static_cast<size_t>(i / depth)] +=
            number(codes[static_cast<size_t>(i / depth * row + i % depth)], is_signed) - 7;
      sum_rows({codes.data(), kRows, depth, row, is_signed, 7}, sums.data());
      EXPECT_EQ(sums, expected) << depth << " " << is_signed;
    }
  }
}

// One by one.
std::vector<int32_t> expected_sums(const ConvGeometry& g, const std::vector<std::byte>& codes, bool is_signed,
                                   int32_t zero) {
  std::vector<int32_t> sums;
  const int64_t depth = g.channels / g.groups;
  const int64_t pixels = g.batch * g.out_height * g.out_width;
  for (int64_t i = 0; i < g.groups * pixels; ++i) {
    const int64_t group = i / pixels;
    const int64_t image = i % pixels / (g.out_height * g.out_width);
    int32_t sum = 0;
    for (int64_t k = 0; k < g.kernel_height * g.kernel_width * depth; ++k) {
      const int64_t place = k / depth;
      const int64_t y = i / g.out_width % g.out_height * g.stride_y - g.pad_top + place / g.kernel_width * g.dilation_y;
      const int64_t x = i % g.out_width * g.stride_x - g.pad_left + place % g.kernel_width * g.dilation_x;
      if (y < 0 || y >= g.height || x < 0 || x >= g.width) continue;
      const int64_t at = ((image * g.height + y) * g.width + x) * g.channels + group * depth + k % depth;
      sum += number(codes[static_cast<size_t>(at)], is_signed) - zero;
    }
    sums.push_back(sum);
  }
  return sums;
}

TEST(CodeSums, OfWindows) {
  for (const int64_t kernel : {1, 2, 3, 5}) {
    for (const int64_t stride : {1, 2, 3}) {
      for (const int64_t dilation : {1, 2}) {
        for (const int64_t pad : {0, 1, 4}) {
          ConvGeometry g{.batch = 2, .channels = 6, .height = 7, .width = 9, .groups = 3};
          g.kernel_height = kernel;
          g.kernel_width = kernel == 5 ? 1 : kernel;
          g.stride_y = g.stride_x = stride;
          g.dilation_y = g.dilation_x = dilation;
          g.pad_top = g.pad_left = pad;
          g.out_height = (g.height + pad + 1 - dilation * (g.kernel_height - 1) - 1) / stride + 1;
          g.out_width = (g.width + pad + 2 - dilation * (g.kernel_width - 1) - 1) / stride + 1;
          if (g.height + pad + 1 < dilation * (g.kernel_height - 1) + 1) continue;
          const std::vector<std::byte> codes = drawn(g.batch * g.channels * g.height * g.width, 2);
          for (const int32_t zero : {0, -128, 131}) {
            const WindowSums sums(g);
            std::vector<std::byte> workspace(sums.workspace_bytes());
            const int32_t* const seen = sums.run(codes.data(), zero < 0, zero, workspace.data());
            const std::vector<int32_t> expected = expected_sums(g, codes, zero < 0, zero);
            EXPECT_EQ(std::vector<int32_t>(seen, seen + expected.size()), expected)
                << kernel << " " << stride << " " << dilation << " " << pad << " " << zero;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
