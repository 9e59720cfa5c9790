#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/devices/cpu/tiles/tile_kernels.h"
#include "engine/quantization.h"

namespace assay::engine::cpu {

// Columns of codes in memory.
struct CodeColumns {
  const std::byte* first = nullptr;
  int64_t column = 0, depth = 0;  // bytes from one to the next, and to the next code of a column
};

// Columns of codes that are computed while a model runs, as panels that rows of codes are multiplied by. Sums are
// exact: of codes less their zero points, but for what a column's zero point makes of a row (see `shares`).
class ComputedPanels {
 public:
  // Sums take rows of `sums_row` whole numbers, which are multiples of this.
  static constexpr int64_t kWholeColumns = 16;

  ComputedPanels(const Quantizer& rows, const Quantizer& columns, int64_t count, int64_t depth);

  uint64_t bytes() const { return starts_at_ + static_cast<uint64_t>(whole_columns()) * sizeof(int32_t); }
  int64_t words() const { return words_; }  // of a row, which have 4 bytes
  int64_t whole_columns() const;
  // Into memory of so many bytes, aligned to 64.
  void pack(const CodeColumns& from, std::byte* to) const;
  // Rows, each of which begins at one of the places, by packed columns.
  void multiply(const float* const* places, int64_t rows, const std::byte* packed, int32_t* sums,
                int64_t sums_row) const;
  // How many times the sum of a row's codes less their zero points is missing in its sums.
  int32_t share() const { return -column_zero_; }

 private:
  int64_t panel_columns() const { return static_cast<int64_t>(kernels_.width * kernels_.most_vectors); }
  void pack_panel(const CodeColumns& from, int64_t count, std::byte* to) const;
  void set_starts(std::byte* packed) const;

  const TileKernels& kernels_;
  int64_t count_, depth_, words_;
  uint8_t flip_;                  // bits of columns that change, so that they have a sign
  int32_t column_zero_;           // after that
  std::vector<std::byte> zeros_;  // a row of zero points
  uint64_t starts_at_ = 0;
};

}  // namespace assay::engine::cpu
