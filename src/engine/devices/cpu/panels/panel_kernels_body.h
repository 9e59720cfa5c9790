// The loops of panel_kernels.h for vectors of kBytes; included by panel_kernels.cpp once for each instruction set, in a
// namespace of its own, with ASSAY_KERNEL saying which, kMostRows how many rows its registers hold, and multiply_add.

constexpr size_t kVectors = kPanel / kWidth;

ASSAY_KERNEL inline const Unaligned& at(const float* x) { return *reinterpret_cast<const Unaligned*>(x); }
ASSAY_KERNEL inline Unaligned& at(float* x) { return *reinterpret_cast<Unaligned*>(x); }

template <size_t kRows>
ASSAY_KERNEL void multiply_tile(const PanelRows& given, const float* panel, int64_t panel_row) {
  Vector sums[kRows][kVectors];
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      sums[r][v] = at(given.out + static_cast<int64_t>(r) * given.out_row + v * kWidth);
    }
  }
  for (size_t k = 0; k < given.depth; ++k, panel += panel_row) {
    Vector right[kVectors];
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) right[v] = at(panel + v * kWidth);
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) {
      const Vector left = given.left[static_cast<int64_t>(r) * given.left_row + static_cast<int64_t>(k)] - Vector{};
#pragma GCC unroll 16
      for (size_t v = 0; v < kVectors; ++v) multiply_add(left, right[v], sums[r][v]);
    }
  }
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      at(given.out + static_cast<int64_t>(r) * given.out_row + v * kWidth) = sums[r][v];
    }
  }
}

// Calls tile(count, rows) for as many rows as registers hold, again and again.
template <size_t kRows, typename Tile>
ASSAY_KERNEL inline void for_tiles(PanelRows rows, Tile&& tile) {
  while (rows.rows >= kRows) {
    tile(std::integral_constant<size_t, kRows>(), rows);
    rows.left += static_cast<int64_t>(kRows) * rows.left_row;
    rows.out += static_cast<int64_t>(kRows) * rows.out_row;
    rows.rows -= kRows;
  }
  if constexpr (kRows > 1) {
    if (rows.rows > 0) for_tiles<kRows - 1>(rows, tile);
  }
}

ASSAY_KERNEL void multiply(const PanelRows& rows, const float* panel, int64_t panel_row) {
  for_tiles<kMostRows>(
      rows, [=](auto count, const PanelRows& tile) { multiply_tile<decltype(count)::value>(tile, panel, panel_row); });
}
