#include <algorithm>
#include <bit>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "engine/devices/cpu/tiles/tile_kernels.h"

namespace assay::engine::cpu {
namespace {

// How the words of rows lie.
struct Lying {
  size_t steps, depth;
  size_t line;  // rows that lie at equal distances; 0: each lies anywhere
};

constexpr Lying kAll[] = {{1, 1, 100}, {1, 5, 100}, {1, 16, 100}, {1, 20, 100}, {1, 48, 0},
                          {3, 16, 14}, {3, 48, 7},  {3, 32, 28},  {7, 6, 20},   {2, 13, 0},
                          {9, 16, 3},  {4, 96, 20}, {1, 1100, 9}, {3, 400, 100}};

// Rows of words, from bytes that `draw` gives, and a panel of other ones.
template <typename Draw>
class DrawnRows {
 public:
  DrawnRows(const Lying& lying, size_t rows, size_t vectors, std::mt19937& random, Draw draw) {
    const size_t columns = vectors * 16, room = lying.depth + 3;
    left_.resize(rows * lying.steps * room);
    panel_.resize(lying.steps * lying.depth * columns);
    for (uint32_t& word : left_) word = draw(random, true);
    for (uint32_t& word : panel_) word = draw(random, false);
    std::vector<size_t> numbers(rows);
    for (size_t i = 0; i < rows; ++i) numbers[i] = i;
    const size_t line = std::max<size_t>(lying.line, 1);
    if (rows > line) std::rotate(numbers.begin(), numbers.begin() + static_cast<int64_t>(line), numbers.end());
    for (const size_t number : numbers) {
      for (size_t step = 0; step < lying.steps; ++step)
        places_.push_back(reinterpret_cast<const float*>(left_.data() + (step * rows + number) * room + 2));
    }
    if (lying.line == 0) std::shuffle(places_.begin(), places_.end(), random);
    tile.places = places_.data();
    tile.place_step = lying.steps;
    tile.rows = rows;
    tile.steps = lying.steps;
    tile.depth = lying.depth;
    tile.first = -1;
    tile.panel = tile.ahead = reinterpret_cast<const float*>(panel_.data());
    tile.sums_row = static_cast<int64_t>(columns);
  }

  Tile tile;

 private:
  std::vector<uint32_t> left_, panel_;
  std::vector<const float*> places_;
};

// The sums that kernels give, which are added to what is there where the tile continues.
std::vector<float> sums_of(const TileKernels& kernels, Tile tile, size_t vectors) {
  std::vector<float> sums(tile.rows * vectors * 16, 0.25F);
  tile.sums = sums.data();
  kernels.multiply(tile, vectors);
  return sums;
}

std::vector<int32_t> whole(const std::vector<float>& sums) {
  std::vector<int32_t> numbers(sums.size());
  std::ranges::transform(sums, numbers.begin(), [](float sum) { return std::bit_cast<int32_t>(sum); });
  return numbers;
}

// Rows with a sign are flipped by the other kernels, so that they have an offset.
TEST(AmxTileKernels, SumsOfCodesAreThoseOfOtherKernels) {
  if (amx_code_kernels(false) == nullptr) GTEST_SKIP() << "this processor has no AMX tiles for codes";
  std::mt19937 random(1);
  const auto draw = [](std::mt19937& from, bool) { return static_cast<uint32_t>(from()); };
  for (const bool are_signed : {false, true}) {
    const TileKernels& others = vector_code_kernels(are_signed);
    for (const Lying& lying : kAll) {
      for (const size_t rows : {1, 2, 7, 15, 16, 17, 31, 33, 49, 70}) {
        const size_t vectors = 1 + random() % 4, columns = vectors * 16;
        DrawnRows drawn(lying, rows, vectors, random, draw);
        std::vector<int32_t> starts(columns), flipped(columns), row_sums(rows), factors(columns);
        for (auto* const numbers : {&starts, &row_sums, &factors})
          for (int32_t& number : *numbers) number = static_cast<int32_t>(random() % 2001) - 1000;
        const auto* const panel = reinterpret_cast<const int8_t*>(drawn.tile.panel);
        for (size_t i = 0; i < lying.steps * lying.depth * columns * 4; ++i)
          flipped[i / 4 % columns] -= others.offset * panel[i];
        for (size_t c = 0; c < columns; ++c) flipped[c] += starts[c];
        Tile& tile = drawn.tile;
        tile.row_sums = row_sums.data();
        tile.row_factors = factors.data();
        tile.starts = reinterpret_cast<const float*>(flipped.data());
        const std::vector<int32_t> expected = whole(sums_of(others, tile, vectors));
        tile.starts = reinterpret_cast<const float*>(starts.data());
        ASSERT_EQ(whole(sums_of(*amx_code_kernels(are_signed), tile, vectors)), expected)
            << are_signed << ", " << rows << " rows of " << vectors << ", " << lying.steps << " x " << lying.depth;
      }
    }
  }
}

// Numbers have few enough bits that their products and sums are exact in any order.
TEST(AmxTileKernels, SumsOfPairsAreThoseOfOtherKernels) {
  if (amx_pair_kernels() == nullptr) GTEST_SKIP() << "this processor has no AMX tiles for bfloat16";
  std::mt19937 random(2);
  const auto draw = [](std::mt19937& from, bool) {
    const auto half = [&] {
      const float number = static_cast<float>(static_cast<int>(from() % 15) - 7) / 8;
      return std::bit_cast<uint32_t>(number) >> 16;
    };
    return half() << 16 | half();
  };
  for (const Lying& lying : kAll) {
    for (const size_t rows : {1, 2, 7, 15, 16, 17, 31, 33, 49, 70}) {
      const size_t vectors = 1 + random() % 4;
      DrawnRows drawn(lying, rows, vectors, random, draw);
      for (const bool continues : {false, true}) {
        drawn.tile.continues = continues;
        ASSERT_EQ(sums_of(*amx_pair_kernels(), drawn.tile, vectors),
                  sums_of(*vector_pair_kernels(), drawn.tile, vectors))
            << rows << " rows of " << vectors << ", " << lying.steps << " x " << lying.depth;
      }
    }
  }
}

#if defined(__x86_64__)
// Libraries that use tiles, too, find none of ours.
TEST(AmxTileKernels, TilesAreFreeAfterwards) {
  if (amx_code_kernels(false) == nullptr) GTEST_SKIP() << "this processor has no AMX tiles for codes";
  std::mt19937 random(3);
  DrawnRows drawn({1, 40, 100}, 40, 4, random, [](std::mt19937& from, bool) { return static_cast<uint32_t>(from()); });
  sums_of(*amx_code_kernels(false), drawn.tile, 4);
  constexpr uint32_t kTiles = 3U << 17;  // configuration and data among the states that are in use
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  EXPECT_EQ(low & kTiles, 0);
}
#endif

}  // namespace
}  // namespace assay::engine::cpu
