#pragma once

#include <cstdint>
#include <span>

namespace assay::ops {

// One step of a product: a tile of `rows` x `columns` partial sums, contiguous at c, gets a·b added for `depth` k's.
// a holds `rows` values for each k; b holds `columns` values for each k, b_stride apart and aligned to 64 bytes.
template <typename T>
using TileKernel = void (*)(const T* a, const T* b, uint64_t b_stride, uint64_t depth, T* c);

struct TileSize {
  uint64_t rows = 0;
  uint64_t columns = 0;
};

// The kernels of one instruction set. They all give the same bits.
template <typename T>
struct TileOf {
  const char* name;
  uint64_t columns;
  std::span<const TileKernel<T>> kernels;  // for 1, 2, … rows

  TileSize size() const { return {kernels.size(), columns}; }
};
using Tile = TileOf<double>;
using FloatTile = TileOf<float>;

// The tiles that this processor can run, the best first; the last runs everywhere.
std::span<const Tile> tiles();
std::span<const FloatTile> float_tiles();

}  // namespace assay::ops
