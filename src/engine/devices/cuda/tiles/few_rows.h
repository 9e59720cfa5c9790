#pragma once

#include "engine/devices/cuda/generate/element_site.h"
#include "engine/devices/cuda/tiles/compressed_layer.h"
#include "engine/devices/cuda/tiles/tile_product.h"

namespace assay::engine::cuda {

// A normalisation of the rows, by the kernel that multiplies them.
struct RowNorm {
  struct Factors {
    Pointer pointer;
    tensor::DType type = tensor::DType::undefined;  // undefined: there are none
  };
  float epsilon = 0;
  bool is_rms = false;
  bool is_near = false;  // may be off by some units
  Factors scale, shift;
};

// A product of few rows of 16-bit elements by constant columns, which memory bounds: elements that lie one behind the
// other, or codes.
struct FewRows {
  static constexpr int64_t kMostRows = 8;

  tensor::DType type = tensor::DType::float16;
  int64_t rows = 1, columns = 1, depth = 1;
  Pointer left;
  int64_t left_row = 0;  // elements from row to row
  Pointer right;
  int64_t right_column = 0;                     // elements from column to column
  std::optional<CompressedOperand> codes = {};  // in the place of the right
  std::optional<RowNorm> norm = {};
  bool is_gated = false;  // results are made of both halves of the columns
};

// A product as one of few rows; nullopt: its columns are computed, or the operands lie otherwise.
std::optional<FewRows> few_rows_of(const TileProduct& product);
// One of codes, which are to be set.
FewRows few_rows_of(const CompressedLayer& layer);
// True if a kernel for few rows takes these rows and columns as they lie.
bool suits_few_rows(const FewRows& product);
// Nullopt: the rows do not fit on a processor.
std::optional<Launch> few_rows_launch(Programs& programs, const FewRows& product, ElementSite site);

}  // namespace assay::engine::cuda
