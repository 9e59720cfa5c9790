#include "compare/measuring/code_ranks.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace assay::compare {
namespace {

constexpr float kInfiniteCode = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

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
    for (float& x : codes) x = engine() % 3 == 0 ? kInfiniteCode : -kInfiniteCode;
    expect_sorted(codes);
    for (size_t i = 0; i < size; ++i) codes[i] = i % 16 == 0 ? 5 : static_cast<float>(i);  // what the sample sees
    expect_sorted(codes);
  }
}

// Beside a loop over the codes.
void expect_sifted(const std::vector<float>& codes, const CodeRanges& ranges) {
  std::vector<float> expected;
  for (size_t r = 0; r < ranges.kept; ++r) {
    const auto is_inside = [&](float x) { return x <= ranges.all[r].end && !(x <= ranges.all[r].below); };
    std::ranges::copy_if(codes, std::back_inserter(expected), is_inside);
  }
  std::ranges::sort(expected);
  for (const TileKernels& kernels : tile_kernels()) {
    std::vector<CodeCount> counts(ranges.all.size(), {3, 5});
    float kept[kPackedRoom];
    const uint64_t count = kernels.sift(codes.data(), ranges, counts.data(), kept);
    for (size_t r = 0; r < counts.size(); ++r) {
      const auto not_above = [&](float bound) {
        return static_cast<uint64_t>(std::ranges::count_if(codes, [&](float x) { return x <= bound; }));
      };
      EXPECT_EQ(counts[r].below, 3 + not_above(ranges.all[r].below)) << kernels.name << r;
      EXPECT_EQ(counts[r].end, 5 + not_above(ranges.all[r].end)) << kernels.name << r;
    }
    std::sort(kept, kept + count);
    EXPECT_EQ(std::vector<float>(kept, kept + count), expected) << kernels.name << " tail " << ranges.has_tail;
  }
}

TEST(CodeRanks, EveryKernelSiftsAsItSays) {
  std::vector<float> codes(kTile);
  for (size_t i = 0; i < kTile; ++i) codes[i] = static_cast<float>(i * 37 % kTile);
  codes[5] = kNan;
  codes[6] = kInfiniteCode;
  codes[7] = -kInfiniteCode;
  expect_sifted(codes, {.all = {{kNan, 2}, {100, 120.5F}, {300, kInfiniteCode}, {-1, 0}}, .kept = 3});
  for (const bool has_tail : {false, true}) {
    expect_sifted(codes, {{{kNan, 2}, {100, 120.5F}, {300, kInfiniteCode}}, 3, has_tail});
    expect_sifted(codes, {{{8, 9}, {480, 490}, {490, 491}, {500, 505}, {-5, 3}, {20, 21}}, 4, has_tail});
    expect_sifted(codes, {{{8, 500}, {505, 506}, {507, 600}}, 3, has_tail});
  }
}

// Every number of ranges, and tails from nothing to all of a tile.
TEST(CodeRanks, EveryKernelSiftsAnyRanges) {
  std::mt19937 engine(5);
  const float specials[] = {0.0F, -0.0F, 1e-45F, -1e-45F, kInfiniteCode, -kInfiniteCode, kNan};
  for (size_t kept = 0; kept <= 9; ++kept) {
    for (size_t counted = 0; counted <= 5; ++counted) {
      std::vector<float> limits;
      while (limits.size() < 2 * (kept + counted)) limits.push_back(static_cast<float>(engine() % 4096) - 2048);
      std::ranges::sort(limits);
      CodeRanges ranges = {.kept = kept};
      for (size_t i = 0; i < limits.size(); i += 2) ranges.all.push_back({limits[i], limits[i + 1]});
      ranges.has_tail = kept > 1 && engine() % 4 != 0;
      const uint32_t spread = 1 + engine() % 4096;
      std::vector<float> codes(kTile);
      for (float& x : codes) {
        x = engine() % 16 == 0 ? specials[engine() % std::size(specials)] : static_cast<float>(engine() % spread);
        if (spread > 2048) x -= 2048;
      }
      expect_sifted(codes, ranges);
    }
  }
}

// Where elements of one spot are alike, a sample knows less than its size says.
TEST(CodeRanks, BracketsAreWiderWhereSpotsAreAlike) {
  std::mt19937 engine(2);
  std::normal_distribution<float> normal;
  std::vector<float> apart(1 << 14), alike(1 << 14);
  for (float& x : apart) x = normal(engine);
  for (size_t i = 0; i < alike.size(); ++i) alike[i] = i % 64 == 0 ? normal(engine) : alike[i - 1] + 1e-3F;
  const uint64_t places[] = {500'000};
  const auto width = [&](const std::vector<float>& sample, size_t spot) {
    const CodeRange range = CodeSieve(sample, spot, 1'000'000, places).ranges().all.front();
    return range.end - range.below;
  };
  EXPECT_LT(width(apart, 64), 1.3F * width(apart, 1));
  EXPECT_GT(width(alike, 64), 4 * width(alike, 1));  // the root of 64 but for what the edges do
}

}  // namespace
}  // namespace assay::compare
