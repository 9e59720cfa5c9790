#include "compare/measuring/code_ranks.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace assay::compare {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void expect_sorted(std::vector<float> codes) {
  const uint64_t size = codes.size();
  const std::vector<uint64_t> places = {0, size / 10, size / 2, size / 2 + 1, size - size / 100, size - 1};
  const std::vector<float> found =
      codes_at({std::span(codes).first(size / 3), std::span(codes).subspan(size / 3)}, places);
  std::ranges::sort(codes);
  for (size_t i = 0; i < places.size(); ++i) EXPECT_EQ(found[i], codes[places[i]]) << places[i];
}

TEST(CodeRanks, AreThoseOfTheSortedOrder) {
  std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  for (const size_t size : {100U, 8192U, 8193U, 100'000U, 300'001U}) {
    std::vector<float> codes(size);
    for (float& x : codes) x = normal(engine);
    expect_sorted(codes);
    std::ranges::sort(codes);
    expect_sorted(codes);
    for (float& x : codes) x = std::floor(2 * x);
    expect_sorted(codes);
    for (float& x : codes) x = engine() % 3 == 0 ? kInfinity : -kInfinity;
    expect_sorted(codes);
    for (size_t i = 0; i < size; ++i) codes[i] = i % 16 == 0 ? 5 : static_cast<float>(i);  // what the sample sees
    expect_sorted(codes);
  }
}

TEST(CodeRanks, EveryKernelSiftsAsItSays) {
  std::vector<float> codes(kTile);
  for (size_t i = 0; i < kTile; ++i) codes[i] = static_cast<float>(i * 37 % kTile);
  codes[5] = std::numeric_limits<float>::quiet_NaN();
  codes[6] = kInfinity;
  codes[7] = -kInfinity;
  const float nothing = std::numeric_limits<float>::quiet_NaN();
  const CodeRanges ranges = {.all = {{nothing, 2}, {100, 120.5F}, {300, kInfinity}, {-1, 0}}, .kept = 3};
  for (const TileKernels& kernels : tile_kernels()) {
    CodeCount counts[4] = {};
    float kept[kPackedRoom];
    const uint64_t count = kernels.sift(codes.data(), ranges, counts, kept);
    std::vector<float> expected;
    for (size_t r = 0; r < 4; ++r) {
      const auto not_above = [&](float bound) {
        return static_cast<uint64_t>(std::ranges::count_if(codes, [&](float x) { return x <= bound; }));
      };
      EXPECT_EQ(counts[r].below, not_above(ranges.all[r].below)) << kernels.name << r;
      EXPECT_EQ(counts[r].end, not_above(ranges.all[r].end)) << kernels.name << r;
    }
    for (const float x : codes) {
      if (x <= 2 || (x > 100 && x <= 120.5F) || x > 300) expected.push_back(x);
    }
    EXPECT_EQ(std::vector<float>(kept, kept + count), expected) << kernels.name;
  }
}

}  // namespace
}  // namespace assay::compare
