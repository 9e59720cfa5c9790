#pragma once

#include "engine/devices/cuda/generate/element_site.h"
#include "engine/devices/cuda/tiles/compressed_operand.h"
#include "engine/layers/conv_geometry.h"

namespace assay::engine::cuda {

// Sizes of the tiles of one kernel.
struct TileShape {
  int rows = 64, columns = 64;          // of a block
  int warp_rows = 2, warp_columns = 2;  // warps
  int splits = 1;                       // parts of the depth, each by a block
  int tf32_products = 0;                // of float32: 1 rounds it to eleven bits, 3 keep 22; 0: exactly
  bool is_streamed = false;             // by groups of four warps, one thread moves the operands (sm_90a)
  bool is_long = false;                 // blocks of such take tiles in turns
  bool is_apart = false;                // each group its own
  bool is_paired = false;               // two blocks share what they read of the columns
  bool operator==(const TileShape&) const = default;
};

// An operand of a product: where element (row, depth), or (depth, column), of an item is.
struct TileOperand {
  Pointer pointer;
  int64_t along = 0;           // elements from row to row, or from column to column
  int64_t depth = 1;           // likewise along the depth
  std::vector<int64_t> items;  // likewise by dim of TileProduct::items
};

// A picture, with channels last or in planes, whose pixels, or squares of them, are put together with zeros in the
// workspace, so that they can be moved in packs, and its lines with pixels of zeros.
struct SpreadPixels {
  Pointer from;
  int64_t batch = 0, height = 0, width = 0, channels = 0;
  int64_t before = 0, spread_width = 0;  // pixels that come first in a line, and all of it
  int64_t fold = 1;                      // lines and pixels of a square that becomes one pixel
  bool lies_in_planes = false;

  int64_t lines() const { return batch * ((height + fold - 1) / fold); }
};

// Products of [rows, depth] by [depth, columns], one for each item.
struct TileProduct {
  tensor::DType type = tensor::DType::float32;  // of both operands
  int64_t rows = 1, columns = 1, depth = 1;
  std::vector<int64_t> items;
  TileOperand left, right;
  std::optional<ConvGeometry> windows;     // the rows of the left are windows of a picture, and items are groups
  int64_t pixel = 0;                       // elements from pixel to pixel of that picture
  std::optional<SpreadPixels> spread;      // in the place of the left's memory
  std::optional<CompressedOperand> codes;  // in the place of the right
  std::vector<Buffer> constants;
  // Facts of products of integers.
  int32_t zero_code = 0;          // in the place of what a window does not see
  std::optional<Pointer> starts;  // of int32, by column of all items: is added to each sum
  std::optional<Pointer> zero;    // a code by which the starts are multiplied first
  tensor::DType zero_type = tensor::DType::undefined;
  std::optional<Pointer> weight_zeros;  // of int32, by column: each takes the sum of its row's codes as often off
  bool gives_integers = false;          // the site takes them

  int64_t item_count() const;
};

// Calls number(name, value) for the facts that tell where windows lie.
template <typename Number>
void for_places_of_windows(const ConvGeometry& g, const Number& number) {
  number("stride_y", g.stride_y);
  number("stride_x", g.stride_x);
  number("dilation_y", g.dilation_y);
  number("dilation_x", g.dilation_x);
  number("pad_top", g.pad_top);
  number("pad_left", g.pad_left);
}

// Neighbouring columns that a thread takes at once.
int64_t taken_at_once(int64_t columns);

// Computes the product, each result of which `site` takes as `given`. Nullopt: something is too large.
std::optional<Launches> tile_launches(Programs& programs, const TileProduct& product, const TileShape& shape,
                                      ElementSite site);

}  // namespace assay::engine::cuda
