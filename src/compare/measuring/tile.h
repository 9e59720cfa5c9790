#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/function_ref.h"
#include "base/parallel.h"
#include "compare/measuring/series.h"
#include "compare/measuring/tile_kernels.h"
#include "tensor/tensor.h"

namespace assay::compare {

inline constexpr size_t kMostSeries = 4;
// The series of two tensors side by side.
enum PairSeries : size_t { kSideA, kSideB, kAbsolute, kRelative };

// kTile elements of some series side by side; in the last tile only `size` count, and the rest are 0.
struct Tile {
  alignas(64) double series[kMostSeries][kTile];
  uint64_t size = 0;

  std::span<const double> elements(size_t which) const { return {series[which], size}; }
};

// Series that are computed tile by tile, whenever they are needed. `load` may be called from several threads.
struct TileSource {
  uint64_t count = 0;
  size_t series_count = 1;
  FunctionRef<void(uint64_t tile, Tile& out)> load;

  uint64_t tile_count() const { return count / kTile + (count % kTile != 0); }
};

inline uint64_t tile_size(uint64_t count, uint64_t tile) { return std::min(kTile, count - tile * kTile); }
// Tiles that one thread takes at a time: it depends on the number of elements only.
inline uint64_t tiles_a_piece(uint64_t tiles) { return std::max<uint64_t>(128, tiles / 1024); }

// The elements of a tile as doubles, then zeros; of complex numbers the magnitudes.
void load_tile(const tensor::Tensor& tensor, const TileKernels& kernels, uint64_t tile, double* out);

// Returns whether all of the tile's elements are finite; may also return false for a tile of finite elements.
bool add_tile(const Tile& tile, size_t which, uint64_t number, const TileKernels& kernels, Series& series);

// One series of all tiles. `see` is called with each loaded tile, from several threads.
Series add_up(const TileSource& source, size_t which, FunctionRef<void(uint64_t number, const Tile& tile)> see);

}  // namespace assay::compare
