#pragma once

#include "ops/kernels/product/matrix_product.h"
#include "ops/kernels/product/product_pack.h"
#include "ops/kernels/product/product_tile.h"

namespace assay::ops {

// The blocks into which C is cut. One side of C lies along the vectors of the tile (wide), the other along its rows
// (narrow).
struct BlockPlan {
  TileSize tile;
  ProductSize size;
  bool wide_is_rows = false;  // wide are the rows of C, narrow its columns; else the other way round
  bool streamed = false;      // B is used once, so its rows are not packed
  uint64_t narrow_step = 0;   // items of a block
  uint64_t wide_step = 0;
  uint64_t depth = 0;  // k's that are packed at once

  uint64_t narrow_items() const { return wide_is_rows ? size.columns : size.rows; }
  uint64_t wide_items() const { return wide_is_rows ? size.rows : size.columns; }
  uint64_t narrow_blocks() const { return (narrow_items() + narrow_step - 1) / narrow_step; }
  uint64_t wide_blocks() const { return (wide_items() + wide_step - 1) / wide_step; }
  uint64_t blocks() const { return narrow_blocks() * wide_blocks(); }
  Range narrow_range(uint64_t block) const;
  Range wide_range(uint64_t block) const;

  // An odd number of cache lines, so that rows do not fall on the same sets of the cache.
  uint64_t stream_stride() const { return (wide_step + 7) / 16 * 16 + 8; }
  uint64_t narrow_elements() const { return narrow_step * depth; }
  uint64_t wide_elements() const { return (streamed ? stream_stride() : wide_step) * depth; }
  uint64_t sums_elements() const { return narrow_step * wide_step; }
};

BlockPlan plan_blocks(const TileSize& tile, const ProductSize& size, unsigned threads);

// matrix_product with a kernel of choice: of double, or of float.
template <typename T>
void matrix_product_by(const TileOf<T>& tile, const ProductSize& size, ReadRow a, ReadRow b, WriteRow c);

}  // namespace assay::ops
