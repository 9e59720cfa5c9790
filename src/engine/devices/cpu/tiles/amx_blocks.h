#pragma once

#include <array>

#include "engine/devices/cpu/tiles/tile_kernels.h"

namespace assay::engine::cpu {

#if defined(__x86_64__)

// What the words of rows are; those of panels are codes with a sign, or pairs.
enum class AmxWords : uint8_t { plain_codes, signed_codes, pairs };

// The sums of a tile's products by blocks of rows, on the AMX tiles of this thread. They are configured for as long as
// this exists, within which nothing else may use them, and are free afterwards.
class AmxBlocks {
 public:
  static constexpr size_t kMostRows = 32;  // of a block
  static constexpr size_t kColumns = 64;   // of a row of sums

  AmxBlocks(const Tile& tile, size_t vectors, AmxWords words);
  ~AmxBlocks();
  AmxBlocks(const AmxBlocks&) = delete;
  AmxBlocks& operator=(const AmxBlocks&) = delete;

  struct Block {
    const float* sums = nullptr;  // rows of kColumns
    size_t rows = 0;
  };
  // Sums up the rows behind those of the last block, whose sums stay until the next call; none: that was the last one.
  Block next();

 private:
  static constexpr size_t kHigh = 2;          // tiles of a block, one above the other
  static constexpr size_t kLine = 64;         // bytes of a row of a tile
  static constexpr size_t kWords = 16;        // of a row of a tile
  static constexpr size_t kMostDeep = 32;     // tiles behind each other that are multiplied at once
  static constexpr size_t kTileBytes = 1024;  // of a whole one

  // Rows that are multiplied together, of which the first are left out of the sums.
  struct Strip {
    size_t first = 0, left_out = 0, rows = 0;
    int64_t stride = -1;  // bytes from one row to the next; -1: they lie in another way
    size_t end() const { return first + left_out + rows; }
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

  void configure() const;
  void copy_last_words();
  void find_height();
  intptr_t place(size_t row, size_t step) const;
  size_t end_of_run(size_t row, size_t limit) const;
  int64_t find_stride(size_t row) const;
  Strip strip_at(size_t row) const;
  void find(const Strip& strip, const Deep& deep, std::byte* copies, Rows& rows) const;
  void prefetch_panel(size_t tile) const;
  void copy_row(size_t row, const Deep& deep, std::byte* to) const;
  template <AmxWords kKind>
  void multiply(size_t tiles, const Deep& deep);
  template <AmxWords kKind, size_t kTiles>
  void multiply_beside(const Deep& deep);
  template <AmxWords kKind, size_t kTiles, size_t kWide>
  void multiply_square(size_t vector, const Deep& deep);

  const Tile& tile_;
  size_t vectors_;
  AmxWords kind_;
  size_t rows_;
  size_t row_ = 0;             // of the next block
  size_t height_ = 0;          // of a tile
  int64_t stride_ = -1;        // of all rows, where they have one step; -1: of some
  bool follows_runs_ = false;  // of rows that lie at equal distances: no strip has rows of two of them
  size_t words_, deep_;        // of a row, and its tiles
  size_t tile_words_;          // of a row of a tile
  size_t second_row_ = 0;      // of the block: where its second tile begins
  bool copies_last_ = false;   // words of the panel
  alignas(kLine) std::array<float, 2 * kMostRows * kColumns> all_sums_;
  float* sums_ = all_sums_.data();  // the one half or the other
  alignas(kLine) std::array<std::byte, kHigh * kMostDeep * kTileBytes> copies_;
  alignas(kLine) std::array<std::byte, kColumns / kWords * kTileBytes> last_words_;
  std::array<Rows, kHigh> left_;
};

#endif

}  // namespace assay::engine::cpu
