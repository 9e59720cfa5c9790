#include "engine/devices/cpu/tiles/amx_blocks.h"

#if defined(__x86_64__)
#include <algorithm>
#include <cstring>

#include <immintrin.h>

namespace assay::engine::cpu {
namespace {}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): numbers are written before they are read
AmxBlocks::AmxBlocks(const Tile& tile, size_t vectors, amx::Words words)
    : tile_(tile),
      vectors_(vectors),
      kind_(words),
      rows_(tile.rows),
      ahead_(reinterpret_cast<const std::byte*>(tile.ahead)),
      words_(tile.steps * tile.depth),
      deep_((words_ + kWords - 1) / kWords),
      tile_words_(std::min(words_, kWords)),
      height_(find_height()),
      tiles_(height_, tile_words_) {
  if (words_ > kWords && words_ % kWords != 0) copy_last_words();
}

// The last words of the panel, with zeros behind them.
void AmxBlocks::copy_last_words() {
  copies_last_ = true;
  const size_t first = words_ / kWords * kWords;
  last_words_.fill(std::byte{});
  for (size_t v = 0; v < vectors_; ++v) {
    for (size_t row = first; row < words_; ++row)
      std::memcpy(last_words_.data() + v * kTileBytes + (row - first) * kLine,
                  tile_.panel + (row * vectors_ + v) * kWords, kLine);
  }
}

intptr_t AmxBlocks::place(size_t row, size_t step) const {
  return reinterpret_cast<intptr_t>(tile_.places[row * tile_.place_step + step]);
}

// Behind the last row that lies as far from the one before it as the second from the first, in the first step.
size_t AmxBlocks::end_of_run(size_t row, size_t limit) const {
  if (row + 1 >= limit) return limit;
  const intptr_t stride = place(row + 1, 0) - place(row, 0);
  size_t end = row + 2;
  while (end < limit && place(end, 0) - place(end - 1, 0) == stride) ++end;
  return end;
}

// Tiles are as equally high as can be: of all rows, or of the lines of a picture, where these are long enough.
size_t AmxBlocks::find_height() {
  constexpr size_t kLeastRun = 7;
  const auto height_of = [](size_t rows) {
    const size_t tiles = (rows + kWords - 1) / kWords;
    return (rows + tiles - 1) / tiles;
  };
  size_t runs = 0;
  size_t height = 0;
  for (size_t row = 0; row < rows_; ++runs) {
    const size_t end = end_of_run(row, rows_);
    height = std::max(height, height_of(end - row));
    row = end;
  }
  if (runs == 1 && tile_.steps == 1) stride_ = rows_ == 1 ? 0 : place(1, 0) - place(0, 0);
  follows_runs_ = rows_ >= runs * kLeastRun && (tile_.steps == 1 || tile_.depth % kWords == 0);
  return follows_runs_ ? height : height_of(rows_);
}

// The bytes from one row of a tile to the next, if they are the same for all of them in each step; otherwise, -1.
int64_t AmxBlocks::find_stride(size_t row) const {
  if (stride_ >= 0) return stride_;
  const int64_t stride = height_ == 1 ? 0 : place(row + 1, 0) - place(row, 0);
  for (size_t r = row + 1; r < row + height_; ++r) {
    for (size_t step = 0; step < tile_.steps; ++step) {
      if (place(r, step) - place(r - 1, step) != stride) return -1;
    }
  }
  return stride;
}

AmxBlocks::Strip AmxBlocks::strip_at(size_t row) const {
  const size_t most = std::min(row + height_, rows_);
  const size_t rows = (follows_runs_ && stride_ < 0 ? end_of_run(row, most) : most) - row;
  if (!follows_runs_ || row + rows < height_) return {row, 0, rows};
  const size_t first = row + rows - height_;
  const int64_t stride = find_stride(first);
  return stride < 0 ? Strip{row, 0, rows} : Strip{first, height_ - rows, rows, stride};
}

AmxBlocks::Block AmxBlocks::next() {
  if (given_ == blocks_) {
    if (row_ == rows_) return {};
    sum_group();
  }
  const Strips& strips = group_[given_++];
  return {strips.sums + strips.all[0].left_out * kColumns, strips.rows()};
}

// Sums up the next blocks: several, where the panel is deeper than what the first cache holds.
void AmxBlocks::sum_group() {
  const size_t parts = (deep_ + kMostDeep - 1) / kMostDeep;
  given_ = blocks_ = 0;
  is_second_half_ = !is_second_half_;
  float* sums = sums_.data() + (is_second_half_ ? kMostBlocks * kMostRows * kColumns : 0);
  while (row_ < rows_ && blocks_ < (parts == 1 ? 1 : kMostBlocks)) {
    Strips& strips = group_[blocks_++];
    strips.sums = sums;
    sums += kMostRows * kColumns;
    strips.all[0] = strip_at(row_);
    row_ = strips.all[0].end();
    strips.count = row_ < rows_ ? kHigh : 1;
    if (strips.count == 1) continue;
    strips.all[1] = strip_at(row_);
    row_ = strips.all[1].end();
  }
  for (size_t part = 0; part < parts; ++part) {
    const Deep deep{part * deep_ / parts, (part + 1) * deep_ / parts};
    for (size_t block = 0; block < blocks_; ++block) {
      const Strips& strips = group_[block];
      for (size_t i = 0; i < strips.count; ++i)
        find(strips.all[i], deep, copies_.data() + i * kMostDeep * kTileBytes, left_[i]);
      if (kind_ == amx::Words::plain_codes)
        multiply<amx::Words::plain_codes>(strips, deep);
      else if (kind_ == amx::Words::signed_codes)
        multiply<amx::Words::signed_codes>(strips, deep);
      else
        multiply<amx::Words::pairs>(strips, deep);
    }
  }
}

// Finds the tiles of a strip where they lie, or copies those whose rows do not lie like that.
void AmxBlocks::find(const Strip& strip, const Deep& deep, std::byte* copies, Rows& rows) const {
  const bool are_whole = strip.stride >= 0;
  const size_t whole = !are_whole ? 0 : tile_words_ < kWords ? deep_ : words_ / kWords;  // that are read in place
  for (size_t i = 0; i < deep.size(); ++i) {
    const size_t word = (deep.begin + i) * kWords;
    const size_t step = word / tile_.depth;
    const bool is_in_place = deep.begin + i < whole;
    rows.tiles[i] = is_in_place ? reinterpret_cast<const std::byte*>(place(strip.first, step)) +
                                      (tile_.first + static_cast<int64_t>(word - step * tile_.depth)) * 4
                                : copies + i * kTileBytes;
    rows.strides[i] = is_in_place ? strip.stride : static_cast<int64_t>(kLine);
  }
  const Deep copied{std::max(deep.begin, std::min(whole, deep.end)), deep.end};
  if (copied.size() == 0) return;
  for (size_t r = 0; r < strip.left_out + strip.rows; ++r)
    copy_row(strip.first + r, copied, copies + (copied.begin - deep.begin) * kTileBytes + r * kLine);
}

// Fetches a part of the panel that comes next, while a tile of this one is multiplied.
void AmxBlocks::prefetch_panel() {
  constexpr int kSecondCache = 2;
  const std::byte* const end = ahead_ + kWords * tile_.ahead_step / ((vectors_ + 1) / 2);
  for (; ahead_ < end; ahead_ += kLine) __builtin_prefetch(ahead_, 0, kSecondCache);
}

// Copies words of a row to those of tiles, with zeros behind the last. Lines are written whole, so that tiles need not
// wait for their parts.
[[gnu::target("avx512f")]] void AmxBlocks::copy_row(size_t row, const Deep& deep, std::byte* to) const {
  const float* const* const places = tile_.places + row * tile_.place_step;
  const size_t begin = deep.begin * kWords;
  const size_t end = std::min(deep.end * kWords, words_);
  size_t step = begin / tile_.depth;
  size_t within = begin % tile_.depth;
  __m512i line = _mm512_setzero_si512();
  for (size_t word = begin; word < end;) {
    const size_t place = word % kWords;
    const size_t count = std::min(std::min(kWords - place, tile_.depth - within), end - word);
    const auto lanes = static_cast<__mmask16>(((uint32_t{1} << count) - 1) << place);
    line = _mm512_mask_loadu_epi32(line, lanes, places[step] + tile_.first + within - place);
    word += count;
    within += count;
    if (within == tile_.depth) {
      within = 0;
      ++step;
    }
    if (word % kWords != 0 && word != end) continue;
    _mm512_storeu_si512(to + ((word - 1) / kWords - deep.begin) * kTileBytes, line);
    line = _mm512_setzero_si512();
  }
}

template <amx::Words kKind>
void AmxBlocks::multiply(const Strips& strips, const Deep& deep) {
  strips.count == 1 ? multiply_beside<kKind, 1>(strips, deep) : multiply_beside<kKind, 2>(strips, deep);
}

template <amx::Words kKind, size_t kTiles>
void AmxBlocks::multiply_beside(const Strips& strips, const Deep& deep) {
  size_t vector = 0;
  for (; vector + 2 <= vectors_; vector += 2) multiply_square<kKind, kTiles, 2>(strips, vector, deep);
  if (vector < vectors_) multiply_square<kKind, kTiles, 1>(strips, vector, deep);
}

template <amx::Words kKind, size_t kTiles, size_t kWide>
void AmxBlocks::multiply_square(const Strips& strips, size_t vector, const Deep& deep) {
  using amx::kPanelTile;
  using amx::kRowTile;
  constexpr bool kIsHigh = kTiles == 2, kIsWide = kWide == 2;
  float* const first = strips.sums + vector * kWords;
  float* const second = kIsHigh ? first + strips.second() * kColumns : nullptr;
  const amx::Sums<kIsHigh, kIsWide> sums{first, second, kColumns * sizeof(float)};
  deep.begin == 0 ? sums.start() : sums.read();
  const auto panel_row = static_cast<int64_t>(vectors_ * kLine);
  const auto* panel = reinterpret_cast<const std::byte*>(tile_.panel) + vector * kLine +
                      deep.begin * kWords * static_cast<size_t>(panel_row);
  const auto add = [&](size_t i, const std::byte* words, int64_t row, size_t next) {
    prefetch_panel();
    amx::load<kPanelTile>(words, row);
    amx::load<kRowTile>(left_[0].tiles[i], left_[0].strides[i]);
    if constexpr (kIsWide) amx::load<kPanelTile + 1>(words + next, row);
    amx::multiply<kKind, 0, kRowTile, kPanelTile>();
    if constexpr (kIsWide) amx::multiply<kKind, 1, kRowTile, kPanelTile + 1>();
    if constexpr (kIsHigh) {
      amx::load<kRowTile + 1>(left_[1].tiles[i], left_[1].strides[i]);
      amx::multiply<kKind, 2, kRowTile + 1, kPanelTile>();
      if constexpr (kIsWide) amx::multiply<kKind, 3, kRowTile + 1, kPanelTile + 1>();
    }
  };
  const bool copies_last = copies_last_ && deep.end == deep_;
  const size_t whole = deep.size() - (copies_last ? 1 : 0);
  for (size_t i = 0; i < whole; ++i, panel += kWords * static_cast<size_t>(panel_row)) add(i, panel, panel_row, kLine);
  if (copies_last) add(whole, last_words_.data() + vector * kTileBytes, kLine, kTileBytes);
  sums.write();
}

}  // namespace assay::engine::cpu
#endif
