#pragma once

#include <vector>

#include "engine/devices/cpu/integers/integer_epilogue.h"
#include "engine/devices/cpu/tiles/tile_division.h"
#include "engine/packed_weights.h"

namespace assay::engine::cpu {

// A product of codes [rows, steps * depth] by constant int8 [steps * depth, columns].
struct CodeShape {
  bool are_signed = false;  // the codes of rows
  int64_t rows = 0, steps = 1, depth = 0, columns = 0;
  // From one number of the constants to the next, in elements.
  int64_t step_stride = 0, depth_stride = 0, column_stride = 0;
  // Rows are copied side by side before they are multiplied; otherwise the codes of a step lie in one place, and are
  // a multiple of four. Codes that are widened are always gathered.
  bool is_gathered = false;
};

// A product of codes prepared for its shape and constants, by words of four, or of two that are widened when rows are
// gathered, where the processor multiplies no others exactly. Sums are exact as long as they fit into 32 bits.
class CodeProduct {
 public:
  // Writes where the codes of rows begin, by row and step; or, where they are gathered, the codes of a row at each
  // multiple of row_bytes() and whatever behind them.
  using Places = FunctionRef<void(int64_t first, int64_t rows, const float** places)>;
  using Gather = FunctionRef<void(int64_t first, int64_t rows, std::byte* to)>;
  struct Given {
    const Arguments& arguments;
    const int32_t* starts;           // of the sums, by column, up to a multiple of 64
    const Places* places = nullptr;  // one of the two
    const Gather* gather = nullptr;
  };
  static constexpr int64_t kSlack = 64;  // bytes behind a row that may be written

  // Whether codes are widened on this processor.
  static bool widens();
  // What codes are more when they are multiplied.
  static int32_t offset(bool are_signed);
  // Whether rows have few enough codes.
  static bool fits(const CodeShape& shape);
  CodeProduct(const Layer& layer, const tensor::Tensor& weights, const CodeShape& shape, IntegerEpilogue epilogue);
  void run(const Given& given) const;
  int64_t row_bytes() const;

 private:
  using Part = TileDivision::Part;
  struct Piece {
    int64_t row, rows, panel, panels;
    const float* const* places;
    float* sums;       // int32
    int64_t sums_row;  // from one to the next
    bool keeps_all;    // otherwise, those of few rows of a panel
  };
  struct Rows {
    int64_t begin, end;
  };

  PackedWeights::Bytes pack(const Layer& layer, const tensor::Tensor& weights) const;
  bool keeps_sums() const { return epilogue_.has_tape() || division_.parts.size() > 1; }
  void run_piece(const Given& given, const TileDivision::Piece& piece) const;
  void run_widened(const Given& given, const TileDivision::Piece& piece, const std::byte* rows) const;
  void run_rows(const Given& given, const TileDivision::Piece& piece, const float* const* places) const;
  void run_panel(const Given& given, const Piece& piece, int64_t panel, const Part& part) const;
  void finish(const Given& given, const Piece& piece, int64_t panel, const Rows& rows) const;

  CodeShape shape_;
  int64_t words_;  // in each step
  IntegerEpilogue epilogue_;
  const TileKernels& kernels_;
  int64_t panel_columns_;
  TileDivision division_;
  PackedWeights::Bytes weights_;
};

}  // namespace assay::engine::cpu
