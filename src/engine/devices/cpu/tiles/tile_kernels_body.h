// The loops of tile_kernels.h for vectors of kBytes; included by tile_kernels.cpp once for each instruction set, in a
// namespace of its own, with ASSAY_KERNEL saying which, kMostRows how many rows registers hold beside each other by
// number of vectors, and of words: kPanelVector, read_panel, multiply_add and spread, of numbers: Element, read and
// write, kAreCodes, with add_row_sums, and kMakesCodes, with make_codes, whether they make codes of sums.

constexpr size_t kMostVectors = std::size(kMostRows) - 1;

template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void start(const Tile& tile, Vector (&sums)[kRows][kVectors]) {
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
    const int64_t row = static_cast<int64_t>(r) * tile.sums_row;
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      sums[r][v] = Vector{};
      if (tile.starts != nullptr) sums[r][v] = at(tile.starts + v * kWidth).lanes;
      if (tile.continues) sums[r][v] = at(tile.sums + row + v * kWidth).lanes;
    }
  }
  if constexpr (kAreCodes) {
    if (tile.row_sums != nullptr && !tile.continues) add_row_sums(tile.row_sums, tile.row_factors, sums);
  }
}

template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_rest(const Tile& tile, Vector (&sums)[kRows][kVectors]) {
  if (tile.bias == nullptr && tile.added == nullptr) return;
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
    const int64_t row = static_cast<int64_t>(r) * tile.out_row;
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      if (tile.bias != nullptr) sums[r][v] += at(tile.bias + v * kWidth).lanes;
      if (tile.added == nullptr) continue;
      Vector added;
      read(static_cast<const Element*>(tile.added) + row + v * kWidth, added);
      sums[r][v] += added;
    }
  }
}

template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void finish(const Tile& tile, Vector (&sums)[kRows][kVectors]) {
  if constexpr (kMakesCodes) {
    if (tile.finish != nullptr) return make_codes(tile, sums);
  }
  add_rest(tile, sums);
  if (tile.bounds != nullptr) {
    Vector low, high;
    set(low, tile.bounds[0]);
    set(high, tile.bounds[1]);
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
      for (size_t v = 0; v < kVectors; ++v) {
        Vector& sum = sums[r][v];
        choose(sum < low, low, sum, sum);
        choose(sum > high, high, sum, sum);
      }
    }
  }
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      const auto row = static_cast<int64_t>(r);
      if (tile.out == nullptr)
        at(tile.sums + row * tile.sums_row + v * kWidth).lanes = sums[r][v];
      else
        write(sums[r][v], static_cast<Element*>(tile.out) + row * tile.out_row + v * kWidth);
    }
  }
}

// Alone in a function: within another loop the compiler has no registers left for where rows begin.
template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::noinline]] void multiply_tile(const Tile& tile) {
  Vector sums[kRows][kVectors];
  start(tile, sums);
  const auto* panel = reinterpret_cast<const std::byte*>(tile.panel);
  const auto* ahead = reinterpret_cast<const std::byte*>(tile.ahead);
  for (size_t step = 0; step < tile.steps; ++step) {
    const float* left[kRows];
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) left[r] = tile.places[r * tile.place_step + step] + tile.first;
    for (size_t k = 0; k < tile.depth; ++k, panel += kVectors * kPanelVector, ahead += tile.ahead_step) {
      __builtin_prefetch(ahead);
      Vector right[kVectors];
#pragma GCC unroll 16
      for (size_t v = 0; v < kVectors; ++v) read_panel(panel + v * kPanelVector, right[v]);
#pragma GCC unroll 16
      for (size_t r = 0; r < kRows; ++r) {
        Vector word;
        spread(left[r] + k, word);
#pragma GCC unroll 16
        for (size_t v = 0; v < kVectors; ++v) multiply_add(word, right[v], sums[r][v]);
      }
    }
  }
  finish(tile, sums);
}

// So many tiles, one below the other; then the tile is the one behind them.
template <size_t kRows, size_t kVectors>
ASSAY_KERNEL void multiply_tiles(Tile& given, size_t count) {
  Tile tile = given;  // what is written cannot be a part of it
  for (size_t i = 0; i < count; ++i) {
    multiply_tile<kRows, kVectors>(tile);
    tile.places += kRows * tile.place_step;
    if (tile.row_sums != nullptr) tile.row_sums += kRows;
    if (tile.finish != nullptr) tile.element += static_cast<int64_t>(kRows) * tile.finish->out_row;
    if (tile.take != nullptr)
      (*tile.take)(kRows);
    else if (tile.sums != nullptr)
      tile.sums += static_cast<int64_t>(kRows) * tile.sums_row;
    const int64_t behind = static_cast<int64_t>(kRows) * tile.out_row;
    if (tile.added != nullptr) tile.added = static_cast<const Element*>(tile.added) + behind;
    if (tile.out != nullptr) tile.out = static_cast<Element*>(tile.out) + behind;
    tile.ahead = reinterpret_cast<const float*>(reinterpret_cast<const std::byte*>(tile.ahead) +
                                                tile.steps * tile.depth * tile.ahead_step);
  }
  given = tile;
}

template <size_t kVectors, size_t kRows>
ASSAY_KERNEL void multiply_rows(Tile& tile, size_t rows, size_t count) {
  if (rows == kRows) return multiply_tiles<kRows, kVectors>(tile, count);
  if constexpr (kRows > 1) multiply_rows<kVectors, kRows - 1>(tile, rows, count);
}

// In tiles of as equally many rows as can be.
template <size_t kVectors>
ASSAY_KERNEL void multiply_vectors(const Tile& given, size_t vectors) {
  if (vectors == kVectors) {
    constexpr size_t kMost = kMostRows[kVectors];
    Tile tile = given;
    const size_t count = (given.rows + kMost - 1) / kMost;
    const size_t longer = given.rows % count;
    if (longer > 0) multiply_rows<kVectors, kMost>(tile, given.rows / count + 1, longer);
    return multiply_rows<kVectors, kMost>(tile, given.rows / count, count - longer);
  }
  if constexpr (kVectors > 1) multiply_vectors<kVectors - 1>(given, vectors);
}

ASSAY_KERNEL void multiply(const Tile& tile, size_t vectors) { multiply_vectors<kMostVectors>(tile, vectors); }

size_t most_rows(size_t vectors) { return kMostRows[vectors]; }
