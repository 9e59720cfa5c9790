// The loops of tile_kernels.h for vectors of kBytes; included by tile_kernels.cpp once for each instruction set, in a
// namespace of its own, with ASSAY_KERNEL saying which, kMostRows how many rows registers hold beside each other by
// number of vectors, and of words: kPanelVector, read_panel, multiply_add and spread, of numbers: Element, read and
// write, kAreCodes, with add_row_sums, and kMakesCodes, with make_codes, whether they make codes of sums;
// kReadsSums says that products were summed up before, kHasMasks that the first numbers of a vector are read and
// written alone where a tile says so.

constexpr size_t kMostVectors = std::size(kMostRows) - 1;

// Whole vectors, or the first numbers of the last.
template <size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void read_row(const Tile& tile, const float* x, Vector (&out)[kVectors]) {
#pragma GCC unroll 16
  for (size_t v = 0; v + 1 < kVectors; ++v) out[v] = at(x + v * kWidth).lanes;
  if constexpr (kHasMasks) {
    if (tile.last > 0) return read_first(x + (kVectors - 1) * kWidth, tile.last, out[kVectors - 1]);
  }
  out[kVectors - 1] = at(x + (kVectors - 1) * kWidth).lanes;
}

template <bool kIsOrdered>
ASSAY_KERNEL inline int64_t row_of(const Tile& tile, size_t r) {
  if constexpr (kIsOrdered)
    return tile.order[r];
  else
    return static_cast<int64_t>(r);
}

template <bool kIsOrdered, size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void start(const Tile& tile, Vector (&sums)[kRows][kVectors]) {
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
    const int64_t row = row_of<kIsOrdered>(tile, r) * tile.sums_row;
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      sums[r][v] = Vector{};
      if (tile.starts != nullptr) sums[r][v] = at(tile.starts + v * kWidth).lanes;
    }
    if (tile.continues) read_row(tile, tile.sums + row, sums[r]);
  }
  if constexpr (kAreCodes) {
    if (tile.row_sums != nullptr && !tile.continues) add_row_sums(tile.row_sums, tile.row_factors, sums);
  }
}

// Steps after the sums, which are the same for all of a tile.
struct Rest {
  bool bias = false, added = false, low = false, high = false;
};

// Row by row, so that the first are written while the last are still summed up. What is written could be a part of the
// tile, so nothing of it is read in between.
template <Rest kRest, bool kIsOrdered, typename T, size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void finish_rows(const Tile& tile, T* out, int64_t out_row,
                                                            Vector (&sums)[kRows][kVectors]) {
  const auto* const added = static_cast<const Element*>(tile.added);
  const int64_t added_row = tile.out_row;
  Vector bias[kVectors], low, high;
  if constexpr (kRest.low) set(low, tile.bounds[0]);
  if constexpr (kRest.high) set(high, tile.bounds[1]);
#pragma GCC unroll 16
  for (size_t v = 0; v < kVectors; ++v) {
    if constexpr (kRest.bias) set(bias[v], -0.0F);  // adding it changes nothing
    if (kRest.bias && tile.bias != nullptr) bias[v] = at(tile.bias + v * kWidth).lanes;
  }
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
    const int64_t row = row_of<kIsOrdered>(tile, r);
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      Vector& sum = sums[r][v];
      if constexpr (kRest.bias) sum += bias[v];
      if constexpr (kRest.added) {
        Vector other;
        read(added + row * added_row + v * kWidth, other);
        sum += other;
      }
      if constexpr (kRest.low) at_least(sum, low, sum);
      if constexpr (kRest.high) at_most(sum, high, sum);
      write(sum, out + row * out_row + v * kWidth);
    }
  }
}

// Finishes few sums, for which it does not pay to compile all that may follow.
template <bool kIsOrdered, typename T, size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void finish_few(const Tile& tile, T* out, int64_t out_row,
                                                           Vector (&sums)[kRows][kVectors]) {
  const Tile rest = tile;
  Vector low, high, other;
  set(low, rest.bounds == nullptr ? 0 : rest.bounds[0]);
  set(high, rest.bounds == nullptr ? 0 : rest.bounds[1]);
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
    const int64_t row = row_of<kIsOrdered>(rest, r);
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      Vector& sum = sums[r][v];
      if (rest.bias != nullptr) sum += at(rest.bias + v * kWidth).lanes;
      if (rest.added != nullptr) {
        read(static_cast<const Element*>(rest.added) + row * rest.out_row + v * kWidth, other);
        sum += other;
      }
      if (rest.bounds != nullptr) {
        at_least(sum, low, sum);
        at_most(sum, high, sum);
      }
      write(sum, out + row * out_row + v * kWidth);
    }
  }
}

// Finishes sums of which the last vectors are no whole ones.
template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void finish_part(const Tile& tile, Vector (&sums)[kRows][kVectors]) {
  const Tile rest = tile;
  float* const first = rest.out == nullptr ? rest.sums : static_cast<float*>(rest.out);
  const int64_t row = rest.out == nullptr ? rest.sums_row : rest.out_row;
  Vector bias[kVectors], low, high;
  set(low, rest.bounds == nullptr ? -std::numeric_limits<float>::infinity() : rest.bounds[0]);
  set(high, rest.bounds == nullptr ? std::numeric_limits<float>::infinity() : rest.bounds[1]);
  for (size_t v = 0; v < kVectors; ++v) set(bias[v], -0.0F);  // adding it changes nothing
  if (rest.bias != nullptr) read_row(rest, rest.bias, bias);
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
    float* const out = first + static_cast<int64_t>(r) * row;
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) sums[r][v] += bias[v];
    if (rest.added != nullptr) {
      Vector added[kVectors];
      read_row(rest, static_cast<const float*>(rest.added) + static_cast<int64_t>(r) * rest.out_row, added);
#pragma GCC unroll 16
      for (size_t v = 0; v < kVectors; ++v) sums[r][v] += added[v];
    }
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      Vector& sum = sums[r][v];
      at_least(sum, low, sum);
      at_most(sum, high, sum);
      if (v + 1 < kVectors)
        at(out + v * kWidth).lanes = sum;
      else
        write_first(sums[r][v], rest.last, out + v * kWidth);
    }
  }
}

template <bool kIsAddedTo, bool kIsOrdered, typename T, size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void finish_within(const Tile& tile, T* out, int64_t out_row,
                                                              Vector (&sums)[kRows][kVectors]) {
  constexpr Rest kFree{true, kIsAddedTo}, kAbove{true, kIsAddedTo, true}, kBetween{true, kIsAddedTo, true, true};
  if (tile.bounds == nullptr) return finish_rows<kFree, kIsOrdered>(tile, out, out_row, sums);
  const bool is_open = tile.bounds[1] == std::numeric_limits<float>::infinity();
  if (is_open) return finish_rows<kAbove, kIsOrdered>(tile, out, out_row, sums);
  finish_rows<kBetween, kIsOrdered>(tile, out, out_row, sums);
}

template <bool kIsOrdered, typename T, size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void finish_into(const Tile& tile, T* out, int64_t out_row,
                                                            Vector (&sums)[kRows][kVectors]) {
  constexpr size_t kMany = 16;
  if constexpr (kRows * kVectors < kMany) {
    finish_few<kIsOrdered>(tile, out, out_row, sums);
  } else {
    if (tile.added != nullptr) return finish_within<true, kIsOrdered>(tile, out, out_row, sums);
    const bool is_done = tile.bias == nullptr && tile.bounds == nullptr;
    if (is_done) return finish_rows<Rest{}, kIsOrdered>(tile, out, out_row, sums);
    finish_within<false, kIsOrdered>(tile, out, out_row, sums);
  }
}

template <bool kIsOrdered, size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void finish(const Tile& tile, Vector (&sums)[kRows][kVectors]) {
  if constexpr (kMakesCodes) {
    if (tile.finish != nullptr) return make_codes(tile, sums);
  }
  if constexpr (kAreCodes) return finish_rows<Rest{}, false>(tile, tile.sums, tile.sums_row, sums);
  if constexpr (kHasMasks && !kIsOrdered) {
    if (tile.last > 0) return finish_part(tile, sums);
  }
  if (tile.out == nullptr) return finish_into<kIsOrdered>(tile, tile.sums, tile.sums_row, sums);
  if constexpr (!kIsOrdered) finish_into<false>(tile, static_cast<Element*>(tile.out), tile.out_row, sums);
}

// GCC does not see that `ended` is written before it is read.
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
// Adds the sums of a chain to those that ended before it, if any, and begins anew.
template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void end_chain(bool is_first, Vector (&sums)[kRows][kVectors],
                                                          Vector (&ended)[kRows][kVectors]) {
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      ended[r][v] = is_first ? sums[r][v] : ended[r][v] + sums[r][v];
      sums[r][v] = Vector{};
    }
  }
}

template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_ended(const Vector (&ended)[kRows][kVectors],
                                                          Vector (&sums)[kRows][kVectors]) {
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) sums[r][v] += ended[r][v];
  }
}
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

// A word of each row times a row of the panel.
template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_products(const float* const (&left)[kRows], size_t k,
                                                             const std::byte* words, Vector (&sums)[kRows][kVectors]) {
  Vector right[kVectors];
#pragma GCC unroll 16
  for (size_t v = 0; v < kVectors; ++v) read_panel(words + v * kPanelVector, right[v]);
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
    Vector word;
    spread(left[r] + k, word);
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) multiply_add(word, right[v], sums[r][v]);
  }
}

// Adds sums that were computed before.
template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_summed(const Tile& tile, Vector (&sums)[kRows][kVectors]) {
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      const Vector sum = at(tile.summed + (r * kMostVectors + v) * kWidth).lanes;
      if constexpr (kAreCodes)
        sums[r][v] = reinterpret_cast<Vector>(reinterpret_cast<Bits>(sums[r][v]) + reinterpret_cast<Bits>(sum));
      else
        sums[r][v] += sum;
    }
  }
}

template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_whole(const Vector (&others)[kRows][kVectors],
                                                          Vector (&sums)[kRows][kVectors]) {
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v)
      sums[r][v] = reinterpret_cast<Vector>(reinterpret_cast<Bits>(sums[r][v]) + reinterpret_cast<Bits>(others[r][v]));
  }
}

// Sums of so few rows and columns wait for each product before: every other word has sums of its own.
template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void sum_up_few(const Tile& tile, Vector (&sums)[kRows][kVectors]) {
  constexpr size_t kWords = kVectors * kPanelVector;
  const auto* words = reinterpret_cast<const std::byte*>(tile.panel);
  Vector others[kRows][kVectors] = {};
  for (size_t step = 0; step < tile.steps; ++step) {
    const float* left[kRows];
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) left[r] = tile.places[r * tile.place_step + step] + tile.first;
    size_t k = 0;
    for (; k + 1 < tile.depth; k += 2, words += 2 * kWords) {
      add_products(left, k, words, sums);
      add_products(left, k + 1, words + kWords, others);
    }
    if (k < tile.depth) {
      add_products(left, k, words, sums);
      words += kWords;
    }
  }
  add_whole(others, sums);
}

template <bool kIsOrdered, size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void sum_up(const Tile& tile, Vector (&sums)[kRows][kVectors]) {
  constexpr bool kHasChains = !kAreCodes && !kIsOrdered && sizeof(Element) == sizeof(float);
  [[maybe_unused]] Vector ended[kHasChains ? kRows : 1][kHasChains ? kVectors : 1];  // sums of chains
  [[maybe_unused]] bool has_ended = false;
  [[maybe_unused]] size_t chain_end = tile.chain;  // from the first word of a place
  const auto* panel = reinterpret_cast<const std::byte*>(tile.panel);
  const auto* ahead = reinterpret_cast<const std::byte*>(tile.ahead);
  for (size_t i = 0; i < tile.steps; ++i) {
    const size_t step = kIsOrdered ? tile.chosen[i] : i;
    const std::byte* words = panel + step * tile.depth * kVectors * kPanelVector;
    const float* left[kRows];
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) {
      const auto row = static_cast<size_t>(row_of<kIsOrdered>(tile, r));
      left[r] = tile.places[row * tile.place_step + step] + tile.first;
    }
    for (size_t k = 0; k < tile.depth; ++k, words += kVectors * kPanelVector, ahead += tile.ahead_step) {
      if constexpr (kHasChains) {
        if (k == chain_end) [[unlikely]] {
          end_chain(!has_ended, sums, ended);
          has_ended = true;
          chain_end += tile.chain;
        }
      }
      // Beside one vector, places need the registers that this takes, also where more panels follow.
      if constexpr (kVectors > 1) __builtin_prefetch(ahead);
      add_products(left, k, words, sums);
    }
    if constexpr (kHasChains) chain_end -= tile.depth;
  }
  if constexpr (kHasChains) {
    if (has_ended) add_ended(ended, sums);
  }
}

template <bool kIsOrdered, size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void multiply_tile(const Tile& tile) {
  Vector sums[kRows][kVectors];
  constexpr size_t kFew = 4;  // sums
  start<kIsOrdered>(tile, sums);
  if constexpr (kReadsSums)
    add_summed(tile, sums);
  else if constexpr (kAreCodes && kRows * kVectors <= kFew)
    sum_up_few(tile, sums);
  else
    sum_up<kIsOrdered>(tile, sums);
  finish<kIsOrdered>(tile, sums);
}

// So many tiles, one below the other; `behind` becomes the one behind them, unless it is null.
template <size_t kRows, size_t kVectors, bool kIsOrdered>
ASSAY_KERNEL void multiply_tiles(const Tile& given, size_t count, Tile* behind) {
  Tile tile = given;  // a copy, of which nothing that is written can be a part
  for (size_t i = 0; i < count; ++i) {
    multiply_tile<kIsOrdered, kRows, kVectors>(tile);
    tile.ahead = reinterpret_cast<const float*>(reinterpret_cast<const std::byte*>(tile.ahead) +
                                                tile.steps * tile.depth * tile.ahead_step);
    if constexpr (kIsOrdered) {
      tile.order += kRows;
      continue;
    }
    tile.places += kRows * tile.place_step;
    if constexpr (kReadsSums) tile.summed += kRows * kMostVectors * kWidth;
    if (tile.row_sums != nullptr) tile.row_sums += kRows;
    if (tile.finish != nullptr) tile.element += static_cast<int64_t>(kRows) * tile.finish->out_row;
    if (tile.take != nullptr)
      (*tile.take)(kRows);
    else if (tile.sums != nullptr)
      tile.sums += static_cast<int64_t>(kRows) * tile.sums_row;
    const int64_t below = static_cast<int64_t>(kRows) * tile.out_row;
    if (tile.added != nullptr) tile.added = static_cast<const Element*>(tile.added) + below;
    if (tile.out != nullptr) tile.out = static_cast<Element*>(tile.out) + below;
  }
  if (behind != nullptr) *behind = tile;
}

template <size_t kVectors, size_t kRows>
ASSAY_KERNEL void multiply_rows(const Tile& tile, size_t rows, size_t count, Tile* behind) {
  if constexpr (!kAreCodes && sizeof(Element) == sizeof(float) && kVectors == kMostVectors) {
    if (rows == kRows && tile.order != nullptr) return multiply_tiles<kRows, kVectors, true>(tile, count, behind);
  }
  if (rows == kRows) return multiply_tiles<kRows, kVectors, false>(tile, count, behind);
  if constexpr (kRows > 1) multiply_rows<kVectors, kRows - 1>(tile, rows, count, behind);
}

// In tiles of as equally many rows as can be; `behind` is as above, and may be the tile itself.
template <size_t kVectors>
ASSAY_KERNEL void multiply_vectors(const Tile& tile, size_t vectors, Tile* behind) {
  if (vectors == kVectors) {
    constexpr size_t kMost = kMostRows[kVectors];
    const size_t rows = tile.rows;
    const size_t count = (rows + kMost - 1) / kMost;
    const size_t longer = rows % count;
    if (longer == 0) return multiply_rows<kVectors, kMost>(tile, rows / count, count, behind);
    Tile rest;
    multiply_rows<kVectors, kMost>(tile, rows / count + 1, longer, &rest);
    return multiply_rows<kVectors, kMost>(rest, rows / count, count - longer, behind);
  }
  if constexpr (kVectors > 1) multiply_vectors<kVectors - 1>(tile, vectors, behind);
}

[[maybe_unused]] void multiply(const Tile& tile, size_t vectors) {
  multiply_vectors<kMostVectors>(tile, vectors, nullptr);
}

[[maybe_unused]] size_t most_rows(size_t vectors) { return kMostRows[vectors]; }
