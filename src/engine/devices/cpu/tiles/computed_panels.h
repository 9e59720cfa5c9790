#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/devices/cpu/tiles/tile_kernels.h"
#include "engine/layers/quantization.h"

namespace assay::engine::cpu {

// Columns of codes in memory.
struct CodeColumns {
  const std::byte* first = nullptr;
  int64_t column = 0, depth = 0;  // bytes from one to the next, and to the next code of a column
  int64_t count = 0;
};

// Columns of codes that are computed while a model runs, as panels that rows of codes are multiplied by. Sums are
// exact: of codes less their zero points, but for what a column's zero point makes of a row (see `share`).
class ComputedPanels {
 public:
  // Sums take rows of `sums_row` whole numbers, which are multiples of this.
  static constexpr int64_t kWholeColumns = 16;

  ComputedPanels(const Quantizer& rows, const Quantizer& columns, int64_t count, int64_t depth);

  uint64_t bytes() const { return starts_at_ + static_cast<uint64_t>(whole_columns()) * sizeof(int32_t); }
  int64_t words() const { return words_; }  // of a row, which have 4 bytes
  int64_t whole_columns() const;
  // All columns, into memory of so many bytes.
  void pack(const CodeColumns& from, std::byte* to) const;
  // Rows of words, by where they begin, by packed columns. What a last word has behind a row's codes is read, and
  // multiplied by 0.
  void multiply(std::span<const float* const> rows, const std::byte* packed, int32_t* sums, int64_t sums_row) const;
  // The number of times that the sum of a row's codes less their zero points is missing in its sums.
  int32_t share() const { return -column_zero_; }

 private:
  int64_t panel_columns() const { return static_cast<int64_t>(kernels_.width * kernels_.most_vectors); }
  void pack_panel(const CodeColumns& from, std::byte* to) const;
  void set_starts(std::byte* packed) const;

  const TileKernels& kernels_;
  int64_t count_, depth_, words_;
  uint8_t flip_;                  // bits of columns that change, so that they have a sign
  int32_t column_zero_;           // after that
  std::vector<std::byte> zeros_;  // a row of zero points
  uint64_t starts_at_ = 0;
};

}  // namespace assay::engine::cpu
