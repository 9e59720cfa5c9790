#pragma once

#include <array>

#include "engine/devices/cpu/amx.h"
#include "engine/devices/cpu/tiles/tile_kernels.h"

namespace assay::engine::cpu {

#if defined(__x86_64__)

// The sums of a tile's products by blocks of rows, on the AMX tiles of this thread, which are configured for as long as
// this exists.
class AmxBlocks {
 public:
  static constexpr size_t kMostRows = 32;  // of a block
  static constexpr size_t kColumns = 64;   // of a row of sums

  AmxBlocks(const Tile& tile, size_t vectors, amx::Words words);
  struct Block {
    const float* sums = nullptr;  // rows of kColumns
    size_t rows = 0;
  };
  // Sums up the rows behind those of the last block, whose sums stay until the next call; none: that was the last one.
  Block next();

 private:
  static constexpr size_t kHigh = 2;  // tiles of a block, one above the other
  static constexpr size_t kLine = amx::kLine;
  static constexpr size_t kWords = amx::kWords;
  static constexpr size_t kMostDeep = 8;      // tiles behind each other whose panel stays in the first cache
  static constexpr size_t kMostBlocks = 4;    // that are multiplied by these one after the other
  static constexpr size_t kTileBytes = 1024;  // of a whole one

  // Rows that are multiplied together, of which the first are left out of the sums.
  struct Strip {
    size_t first = 0, left_out = 0, rows = 0;
    int64_t stride = -1;  // bytes from one row to the next; -1: they lie in another way
    size_t end() const { return first + left_out + rows; }
  };
  struct Strips {
    std::array<Strip, kHigh> all;
    size_t count = 1;
    float* sums = nullptr;
    size_t rows() const { return all[0].rows + (count > 1 ? all[1].rows : 0); }
    // The place at which the sums of the second strip begin.
    size_t second() const { return all[0].left_out + all[0].rows - all[1].left_out; }
  };
  // The tiles of a strip, behind each other.
  struct Rows {
    std::array<const std::byte*, kMostDeep> tiles;
    std::array<int64_t, kMostDeep> strides;
  };
  struct Deep {
    size_t begin, end;  // tiles from the first word on
    size_t size() const { return end - begin; }
  };

  void copy_last_words();
  size_t find_height();
  intptr_t place(size_t row, size_t step) const;
  size_t end_of_run(size_t row, size_t limit) const;
  int64_t find_stride(size_t row) const;
  Strip strip_at(size_t row) const;
  void sum_group();
  void find(const Strip& strip, const Deep& deep, std::byte* copies, Rows& rows) const;
  void prefetch_panel();
  void copy_row(size_t row, const Deep& deep, std::byte* to) const;
  template <amx::Words kKind>
  void multiply(const Strips& strips, const Deep& deep);
  template <amx::Words kKind, size_t kTiles>
  void multiply_beside(const Strips& strips, const Deep& deep);
  template <amx::Words kKind, size_t kTiles, size_t kWide>
  void multiply_square(const Strips& strips, size_t vector, const Deep& deep);

  const Tile& tile_;
  size_t vectors_;
  amx::Words kind_;
  size_t rows_;
  size_t row_ = 0;             // of the next group
  size_t given_ = 0;           // blocks of this one
  size_t blocks_ = 0;          // of this one
  const std::byte* ahead_;     // fetched next
  int64_t stride_ = -1;        // of all rows, where they have one step; -1: of some
  bool follows_runs_ = false;  // of rows that lie at equal distances: no strip has rows of two of them
  size_t words_, deep_;        // of a row, and its tiles
  size_t tile_words_;          // of a row of a tile
  size_t height_;              // of a tile
  amx::Tiles tiles_;
  bool copies_last_ = false;     // words of the panel
  bool is_second_half_ = false;  // of the sums: those of the last group are finished meanwhile
  std::array<Strips, kMostBlocks> group_;
  alignas(kLine) std::array<float, 2 * kMostBlocks * kMostRows * kColumns> sums_;
  alignas(kLine) std::array<std::byte, kHigh * kMostDeep * kTileBytes> copies_;
  alignas(kLine) std::array<std::byte, kColumns / kWords * kTileBytes> last_words_;
  std::array<Rows, kHigh> left_;
};

#endif

}  // namespace assay::engine::cpu
