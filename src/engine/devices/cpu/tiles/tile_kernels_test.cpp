#include "engine/devices/cpu/tiles/tile_kernels.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "engine/devices/cpu/multipliers.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;

// A tile of drawn numbers, and what double arithmetic makes of it.
class Drawn {
 public:
  // The panel has more columns than the result, if any.
  Drawn(unsigned seed, size_t rows, size_t columns, size_t panel_columns) : random_(seed) {
    tile.rows = rows;
    tile.steps = 1 + random_() % 4;
    tile.depth = 1 + random_() % 50;
    tile.first = static_cast<int64_t>(random_() % 3);
    if (random_() % 2 == 0) tile.chain = 1 + random_() % 20;
    tile.place_step = tile.steps + random_() % 2;
    tile.sums_row = tile.out_row = static_cast<int64_t>(columns + random_() % 9);
    const size_t place = tile.depth + static_cast<size_t>(tile.first);
    left_ = numbers(rows * tile.place_step * place);
    for (size_t i = 0; i < rows * tile.place_step; ++i) places_.push_back(left_.data() + i * place);
    std::ranges::shuffle(places_, random_);
    panel_ = numbers(tile.steps * tile.depth * panel_columns);
    const size_t size = rows * static_cast<size_t>(tile.out_row);
    sums = numbers(size);
    out = numbers(size);
    added_ = numbers(size);
    bias_ = numbers(columns);
    tile.places = places_.data();
    tile.panel = tile.ahead = panel_.data();
    tile.sums = sums.data();
    if (random_() % 2 == 0) tile.out = out.data();
    tile.continues = random_() % 2 == 0;
    if (random_() % 2 == 0) tile.bias = bias_.data();
    if (random_() % 2 == 0) tile.added = added_.data();
    if (random_() % 2 == 0) tile.bounds = bounds_;
    expect(columns, panel_columns);
  }

  const std::vector<float>& result() const { return tile.out != nullptr ? out : sums; }

  Tile tile;
  std::vector<float> sums, out;
  std::vector<double> expected;

 private:
  std::vector<float> numbers(size_t count) {
    std::uniform_real_distribution<float> number(-1, 1);
    std::vector<float> drawn(count);
    for (float& one : drawn) one = number(random_);
    return drawn;
  }

  void expect(size_t columns, size_t panel_columns) {
    expected.assign(result().begin(), result().end());
    for (size_t r = 0; r < tile.rows; ++r) {
      for (size_t c = 0; c < columns; ++c) {
        const size_t at = r * static_cast<size_t>(tile.out_row) + c;
        double sum = tile.continues ? double{sums[at]} : 0;
        if (tile.bias != nullptr) sum += double{bias_[c]};
        if (tile.added != nullptr) sum += double{added_[at]};
        for (size_t k = 0; k < tile.steps * tile.depth; ++k) {
          const float* const place = places_[r * tile.place_step + k / tile.depth];
          const float number = place[k % tile.depth + static_cast<size_t>(tile.first)];
          sum += double{number} * double{panel_[k * panel_columns + c]};
        }
        if (tile.bounds != nullptr) sum = std::clamp(sum, double{bounds_[0]}, double{bounds_[1]});
        expected[at] = sum;
      }
    }
  }

  std::mt19937 random_;
  std::vector<float> left_, panel_, added_, bias_;
  std::vector<const float*> places_;
  float bounds_[2] = {-0.5F, 1.5F};
};

TEST(TileKernels, MultiplyTilesOfAllSizes) {
  const std::span<const TileKernels* const> all = all_tile_kernels();
  for (size_t kernel = 0; kernel < all.size(); ++kernel) {
    for (size_t vectors = 1; vectors <= all[kernel]->most_vectors; ++vectors) {
      for (size_t rows = 1; rows <= 2 * all[kernel]->most_rows(vectors) + 3; ++rows) {
        for (unsigned seed = 0; seed < 4; ++seed) {
          const size_t width = all[kernel]->width, last = all[kernel]->has_masks ? seed * 5 % width : 0;
          Drawn drawn(seed, rows, vectors * width - (last > 0 ? width - last : 0), vectors * width);
          drawn.tile.last = last;
          all[kernel]->multiply(drawn.tile, vectors);
          EXPECT_EQ(difference({{drawn.result().begin(), drawn.result().end()}}, {drawn.expected}, 1e-5), "")
              << all[kernel]->name << " " << rows << " rows of " << vectors << ", seed " << seed;
        }
      }
    }
  }
}

// Each row on its own, by the steps that are chosen, is what the rows have together in any order.
TEST(TileKernels, RowsAndStepsAreChosen) {
  const std::span<const TileKernels* const> all = all_tile_kernels();
  constexpr size_t kRows = 11, kSteps = 4, kDepth = 5;
  const std::vector<uint16_t> order = {3, 9, 0, 10, 1, 7, 4, 8, 2, 6};  // not the fifth
  const std::vector<uint8_t> chosen = {0, 2, 3};
  for (size_t kernel = 0; kernel < all.size(); ++kernel) {
    const size_t vectors = all[kernel]->most_vectors, columns = vectors * all[kernel]->width;
    const auto numbers = [](size_t count) {
      std::vector<float> made(count);
      for (size_t i = 0; i < count; ++i) made[i] = static_cast<float>(i * 7 % 31) - 15;
      return made;
    };
    const std::vector<float> left = numbers(kRows * kSteps * kDepth), panel = numbers(kSteps * kDepth * columns);
    const std::vector<float> added = numbers(kRows * columns), bias = numbers(columns);
    std::vector<const float*> places;
    for (size_t i = 0; i < kRows * kSteps; ++i) places.push_back(left.data() + i * kDepth);
    std::vector<float> sums(kRows * columns, 1000), expected = sums;
    for (const uint16_t row : order) {
      for (size_t c = 0; c < columns; ++c) {
        float& sum = expected[row * columns + c];
        for (const uint8_t step : chosen) {
          for (size_t k = 0; k < kDepth; ++k)
            sum += left[(row * kSteps + step) * kDepth + k] * panel[(step * kDepth + k) * columns + c];
        }
        sum += bias[c] + added[row * columns + c];
      }
    }
    all[kernel]->multiply({{.places = places.data(),
                            .place_step = kSteps,
                            .rows = order.size(),
                            .steps = chosen.size(),
                            .order = order.data(),
                            .chosen = chosen.data(),
                            .depth = kDepth},
                           {.panel = panel.data(), .ahead = panel.data()},
                           {.sums = sums.data(),
                            .sums_row = static_cast<int64_t>(columns),
                            .continues = true,
                            .bias = bias.data(),
                            .added = added.data(),
                            .out_row = static_cast<int64_t>(columns)}},
                          vectors);
    EXPECT_EQ(sums, expected) << all[kernel]->name;
  }
}

// Added first, a large number would round each of the terms to its own steps.
TEST(TileKernels, WhatIsAddedDoesNotRoundTheTerms) {
  const std::span<const TileKernels* const> all = all_tile_kernels();
  for (size_t kernel = 0; kernel < all.size(); ++kernel) {
    const std::vector<float> left(3000, 0.001F);
    const float* const place = left.data();
    const std::vector<float> panel(left.size() * all[kernel]->width, 0.1F);
    const std::vector<float> large(all[kernel]->width, 4096);
    for (const bool is_bias : {false, true}) {
      std::vector<float> out(all[kernel]->width);
      Tile tile{{.places = &place, .depth = left.size()},
                {.panel = panel.data(), .ahead = panel.data()},
                {.sums = out.data()}};
      is_bias ? tile.bias = large.data() : tile.added = large.data();
      all[kernel]->multiply(tile, 1);
      EXPECT_NEAR(out[0], 4096.3, 3e-4) << all[kernel]->name;
    }
  }
}

TEST(TileKernels, BoundsKeepNaN) {
  const std::span<const TileKernels* const> all = all_tile_kernels();
  for (size_t kernel = 0; kernel < all.size(); ++kernel) {
    const std::vector<float> panel(all[kernel]->width, 1);
    std::vector<float> out(all[kernel]->width);
    const float bounds[] = {0, 6};
    for (const float given : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -3.0F}) {
      const float* const place = &given;
      all[kernel]->multiply({{.places = &place, .depth = 1},
                             {.panel = panel.data(), .ahead = panel.data()},
                             {.sums = out.data(), .bounds = bounds}},
                            1);
      const double expected = std::isnan(given) ? double{given} : std::clamp(double{given}, 0.0, 6.0);
      EXPECT_EQ(difference({{out[0]}}, {{expected}}, 0), "") << all[kernel]->name;
    }
  }
}

// Sixteen columns of three rows, of numbers with few enough bits that their products and sums are exact.
class PairKernels : public testing::TestWithParam<const TileKernels* (*)()> {};
INSTANTIATE_TEST_SUITE_P(All, PairKernels, testing::Values(&amx_pair_kernels, &vector_pair_kernels));

TEST_P(PairKernels, MultiplyPairsAndRoundOnce) {
  const TileKernels* const kernels = GetParam()();
  if (kernels == nullptr) GTEST_SKIP() << "this processor does not multiply bfloat16";
  constexpr size_t kRows = 3, kDepth = 20, kColumns = 16;
  std::mt19937 random(1);
  const auto draw = [&](size_t count) {
    std::vector<uint16_t> halves(count);
    for (uint16_t& half : halves) {
      const float number = static_cast<float>(static_cast<int>(random() % 31) - 15) / 8;
      half = static_cast<uint16_t>(std::bit_cast<uint32_t>(number) >> 16);
    }
    return halves;
  };
  const auto number = [](uint16_t half) { return std::bit_cast<float>(uint32_t{half} << 16); };
  const std::vector<uint16_t> left = draw(kRows * kDepth), panel = draw(kDepth * kColumns), added = draw(kRows * 16);
  std::vector<const float*> places;
  for (size_t r = 0; r < kRows; ++r) places.push_back(reinterpret_cast<const float*>(left.data() + r * kDepth));
  const std::vector<float> bias(kColumns, 0.25F);
  std::vector<float> sums(kRows * kColumns, -1);
  std::vector<uint16_t> out(kRows * kColumns);
  Tile tile{{.places = places.data(), .rows = kRows, .depth = kDepth / 2},
            {.panel = reinterpret_cast<const float*>(panel.data()), .ahead = bias.data()},
            {.sums = sums.data(),
             .sums_row = kColumns,
             .continues = true,
             .bias = bias.data(),
             .added = added.data(),
             .out = out.data(),
             .out_row = kColumns}};
  kernels->multiply(tile, 1);
  tile.out = nullptr;
  kernels->multiply(tile, 1);
  for (size_t i = 0; i < out.size(); ++i) {
    float sum = -0.75F + number(added[i]);
    for (size_t k = 0; k < kDepth; ++k) {
      const size_t word = k / 2 * kColumns + i % kColumns;
      sum += number(left[i / kColumns * kDepth + k]) * number(panel[2 * word + k % 2]);
    }
    EXPECT_EQ(sums[i], sum) << i;
    EXPECT_NEAR(number(out[i]), sum, std::fabs(sum) / 256) << i;
  }
}

// By hand: added to 2^24 one by one, ones vanish; a chain of four of them does not.
TEST(TileKernels, SumsOfChainsAreAddedApart) {
  constexpr size_t kDepth = 12;
  const std::vector<float> ones(kDepth, 1);
  for (const TileKernels* const kernels : all_tile_kernels()) {
    for (size_t vectors = 1; vectors <= kernels->most_vectors; ++vectors) {
      const size_t columns = vectors * kernels->width;
      std::vector<float> panel(kDepth * columns, 1);
      std::fill_n(panel.begin(), columns, 0x1p24F);
      const std::vector<const float*> places(5, ones.data());
      std::vector<float> sums(5 * columns);
      const Tile tile = {{.places = places.data(), .rows = 5, .depth = kDepth, .chain = 4},
                         {.panel = panel.data(), .ahead = panel.data()},
                         {.sums = sums.data(), .sums_row = static_cast<int64_t>(columns)}};
      kernels->multiply(tile, vectors);
      EXPECT_EQ(sums, std::vector<float>(5 * columns, 0x1p24F + 8)) << kernels->name << " " << vectors;
    }
  }
}

// Columns that fill whole vectors, or nearly, are not computed with smaller ones.
TEST(TileKernels, FewColumnsHaveVectorsThatTheyFill) {
  const auto width = static_cast<int64_t>(tile_kernels().width);
  for (const int64_t columns : {width, 3 * width, 3 * width - 1, 6 * width + width / 2})
    EXPECT_EQ(&tile_kernels(columns), &tile_kernels()) << columns;
  if (width == 16) {
    EXPECT_EQ(tile_kernels(24).width, has_whole_multipliers() ? 16 : 8);
    EXPECT_EQ(tile_kernels(7).width, 8);
  }
}

}  // namespace
}  // namespace assay::engine::cpu
