#pragma once

#include <cstdint>
#include <span>

namespace assay::ops {

constexpr uint64_t kMostTileRows = 8;

// One step of a product: a tile of `rows` x `columns` partial sums, contiguous at c, gets a·b added for `depth` k's.
// a holds `rows` values for each k; b holds `columns` values for each k, b_stride apart and aligned to 64 bytes.
using TileKernel = void (*)(const double* a, const double* b, uint64_t b_stride, uint64_t depth, double* c);

// The kernels of one instruction set. They all give the same bits.
struct Tile {
  const char* name;
  uint64_t columns;
  std::span<const TileKernel> kernels;  // for 1, 2, … rows

  uint64_t rows() const { return kernels.size(); }
};

// What this processor can run, the best first; the last runs everywhere.
std::span<const Tile> tiles();

}  // namespace assay::ops
