#include "engine/devices/cpu/tiles/tile_division.h"

#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "base/parallel.h"

namespace assay::engine::cpu {
namespace {

// The pieces in the order in which threads take them.
std::vector<TileDivision::Piece> pieces_of(const TileWork& work, unsigned threads) {
  const ThreadPool pool(threads);
  const PoolScope scope(pool);
  const TileDivision division(work, tile_kernels());
  const ThreadPool alone(1);
  const PoolScope in_order(alone);
  std::vector<TileDivision::Piece> pieces;
  division.run([&](const TileDivision::Piece& piece) { pieces.push_back(piece); });
  return pieces;
}

int64_t panel_columns() { return static_cast<int64_t>(tile_kernels().width * tile_kernels().most_vectors); }

int64_t sums_of(const TileDivision::Piece& piece, int64_t columns) {
  const int64_t first = piece.panel * panel_columns();
  return piece.rows * (std::min(first + piece.panels * panel_columns(), columns) - first);
}

const TileWork kWorks[] = {
    {.rows = 49, .depth = 576, .columns = 160},
    {.rows = 49, .depth = 960, .columns = 320},
    {.rows = 784, .depth = 32, .columns = 192},
    {.rows = 196, .depth = 384, .columns = 96},
    {.rows = 12544, .depth = 16, .columns = 96},
    {.rows = 3136, .depth = 24, .columns = 144},
    {.rows = 128, .depth = 768, .columns = 3072},
    {.rows = 5, .depth = 7, .columns = 3},
    {.rows = 3136, .depth = 32, .columns = 64, .keeps_rows = true},
    {.rows = 12544, .depth = 8, .columns = 96, .keeps_rows = true},
};

TEST(TileDivision, PiecesAreAllOfTheResult) {
  for (const TileWork& work : kWorks) {
    for (const unsigned threads : {1U, 2U, 3U, 16U}) {
      int64_t sums = 0;
      for (const TileDivision::Piece& piece : pieces_of(work, threads)) {
        sums += sums_of(piece, work.columns);
        EXPECT_LE(piece.row + piece.rows, work.rows);
        EXPECT_GT(piece.rows, 0);
      }
      EXPECT_EQ(sums, work.rows * work.columns) << work.columns << ", " << threads << " threads";
    }
  }
}

TEST(TileDivision, PartsAreTheWholeDepthInOrder) {
  for (const TileWork& work : {TileWork{.rows = 128, .depth = 3072, .columns = 768},
                               TileWork{.rows = 128, .depth = 3072, .columns = 768, .most_sums = 32 << 10},
                               TileWork{.rows = 196, .steps = 9, .depth = 96, .columns = 64},
                               TileWork{.rows = 49, .steps = 9, .depth = 1000, .columns = 160}}) {
    const TileDivision division(work, tile_kernels());
    int64_t step = 0, word = 0;
    for (const TileDivision::Part& part : division.parts) {
      EXPECT_EQ(part.step, step);
      EXPECT_EQ(part.first, word);
      EXPECT_TRUE(part.steps == 1 || part.depth == work.depth);
      word += part.depth;
      step += word == work.depth ? part.steps : 0;
      word %= work.depth;
    }
    EXPECT_EQ(step, work.steps);
    EXPECT_EQ(word, 0);
  }
}

TEST(TileDivision, ManyRowsBelongToOnePiece) {
  for (const TileWork& work : kWorks) {
    for (const unsigned threads : {1U, 2U, 3U}) {
      if (!work.keeps_rows) continue;
      for (const TileDivision::Piece& piece : pieces_of(work, threads))
        EXPECT_EQ(sums_of(piece, work.columns), piece.rows * work.columns) << work.columns << ", " << threads;
    }
  }
}

// Panels of which the last one is narrow, in equal numbers, are not equal work.
TEST(TileDivision, TwoThreadsGetAlike) {
  for (const TileWork& work : kWorks) {
    if (work.rows < 48) continue;
    std::array<int64_t, 2> taken{};
    for (const TileDivision::Piece& piece : pieces_of(work, 2))
      *std::ranges::min_element(taken) += sums_of(piece, work.columns);
    EXPECT_LE(static_cast<double>(std::ranges::max(taken)), 0.53 * static_cast<double>(work.rows * work.columns))
        << work.rows << " x " << work.columns;
  }
}

}  // namespace
}  // namespace assay::engine::cpu
