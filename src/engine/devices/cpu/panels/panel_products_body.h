// Products with panels of words for vectors of kBytes; included by panel_kernels.cpp once for each instruction set, in
// a namespace of its own, with ASSAY_KERNEL saying which, kMostRows how many rows its registers hold, multiply_add and
// spread.

constexpr size_t kVectors = kPanel / kWidth;
constexpr size_t kRegisters = kBytes == 64 ? 32 : 16;

// Two chains of sums where there are too few rows to hide how long an addition takes.
template <size_t kRows>
constexpr size_t kChainsOf = kRows <= 2 ? 2 : 1;

// A panel of words as they are multiplied.
struct PanelWords {
  using Stored = float;
  ASSAY_KERNEL static void load(const float* from, Vector& out) { out = at(from).lanes; }
};

// Adds a row like add_panel_row(), for words of rows that registers hold more easily than those of the panel.
template <typename Numbers, size_t kRows, size_t kCount>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_by_vectors(const PanelRows& given, size_t k,
                                                               const typename Numbers::Stored* panel,
                                                               Vector (&sums)[kRows][kCount]) {
  Vector left[kRows];
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r)
    spread(given.left + static_cast<int64_t>(r) * given.left_row + static_cast<int64_t>(k), left[r]);
#pragma GCC unroll 16
  for (size_t v = 0; v < kCount; ++v) {
    Vector right;
    Numbers::load(panel + v * kWidth, right);
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) multiply_add(left[r], right, sums[r][v]);
  }
}

template <typename Numbers, size_t kRows, size_t kCount>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_panel_row(const PanelRows& given, size_t k,
                                                              const typename Numbers::Stored* panel,
                                                              Vector (&sums)[kRows][kCount]) {
  if constexpr (kRows * kCount + kCount >= kRegisters) return add_by_vectors<Numbers>(given, k, panel, sums);
  Vector right[kCount];
#pragma GCC unroll 16
  for (size_t v = 0; v < kCount; ++v) Numbers::load(panel + v * kWidth, right[v]);
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
    Vector left;
    spread(given.left + static_cast<int64_t>(r) * given.left_row + static_cast<int64_t>(k), left);
#pragma GCC unroll 16
    for (size_t v = 0; v < kCount; ++v) multiply_add(left, right[v], sums[r][v]);
  }
}

template <typename Numbers, size_t kRows, size_t kCount>
ASSAY_KERNEL void multiply_tile(const PanelRows& given, const typename Numbers::Stored* panel, int64_t panel_row) {
  constexpr size_t kChains = kChainsOf<kRows>;
  Vector sums[kChains][kRows][kCount] = {};
  if (given.adds) {
#pragma GCC unroll 16
    for (size_t i = 0; i < kRows * kCount; ++i) {
      const auto row = static_cast<int64_t>(i / kCount);
      sums[0][i / kCount][i % kCount] = at(given.out + row * given.out_row + i % kCount * kWidth).lanes;
    }
  }
  size_t k = 0;
  for (; k + kChains <= given.depth; k += kChains) {
#pragma GCC unroll 2
    for (size_t chain = 0; chain < kChains; ++chain, panel += panel_row) {
      add_panel_row<Numbers>(given, k + chain, panel, sums[chain]);
    }
  }
  if (k < given.depth) add_panel_row<Numbers>(given, k, panel, sums[0]);
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (size_t v = 0; v < kCount; ++v) {
      Vector sum = sums[0][r][v];
      if constexpr (kChains == 2) sum += sums[1][r][v];
      at(given.out + static_cast<int64_t>(r) * given.out_row + v * kWidth).lanes = sum;
    }
  }
}

// Calls tile(count, rows) for as many rows as registers hold, again and again.
template <size_t kRows, typename Tile>
ASSAY_KERNEL [[gnu::always_inline]] inline void for_tiles_of(PanelRows& rows, Tile&& tile) {
  while (rows.rows >= kRows) {
    tile(std::integral_constant<size_t, kRows>(), rows);
    rows.left += static_cast<int64_t>(kRows) * rows.left_row;
    rows.out += static_cast<int64_t>(kRows) * rows.out_row;
    rows.rows -= kRows;
  }
  if constexpr (kRows > 1) {
    if (rows.rows > 0) for_tiles_of<kRows - 1>(rows, tile);
  }
}
template <typename Tile>
ASSAY_KERNEL [[gnu::always_inline]] inline void for_tiles(PanelRows rows, Tile&& tile) {
  if (rows.rows == 1) return tile(std::integral_constant<size_t, 1>(), rows);
  for_tiles_of<kMostRows>(rows, tile);
}

template <typename Numbers, size_t kCount = kVectors>
ASSAY_KERNEL void multiply_numbers(const PanelRows& rows, const typename Numbers::Stored* panel, int64_t panel_row) {
  for_tiles(rows, [=](auto count, const PanelRows& tile) {
    multiply_tile<Numbers, decltype(count)::value, kCount>(tile, panel, panel_row);
  });
}

// With the first columns of a panel.
template <size_t kColumns>
ASSAY_KERNEL void multiply(const PanelRows& rows, const float* panel, int64_t panel_row) {
  multiply_numbers<PanelWords, kColumns / kWidth>(rows, panel, panel_row);
}
