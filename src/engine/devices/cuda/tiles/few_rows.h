#pragma once

#include "engine/devices/cuda/generate/element_site.h"
#include "engine/devices/cuda/tiles/compressed_operand.h"

namespace assay::engine::cuda {

// A product of few rows of 16-bit elements by constant columns, which memory bounds: elements that lie one behind the
// other, or codes.
struct FewRows {
  static constexpr int64_t kMostRows = 8;

  tensor::DType type = tensor::DType::float16;
  int64_t rows = 1, columns = 1, depth = 1;
  Pointer left;
  int64_t left_row = 0;  // elements from row to row
  Pointer right;
  int64_t right_column = 0;                  // elements from column to column
  const CompressedOperand* codes = nullptr;  // in the place of the right
};

// True if a kernel for few rows takes these columns as they lie.
bool suits_few_rows(const FewRows& product);
// Nullopt: the rows do not fit on a processor.
std::optional<Launch> few_rows_launch(Programs& programs, const FewRows& product, ElementSite site);

}  // namespace assay::engine::cuda
