#pragma once

#include <vector>

#include "engine/devices/cpu/integers/integer_epilogue.h"
#include "engine/devices/cpu/tiles/tile_division.h"
#include "engine/weights/packed_weights.h"

namespace assay::engine::cpu {

// A product of codes [rows, steps * depth] by constant int8 [steps * depth, columns], and which of the result's columns
// are its own.
struct CodeShape {
  bool are_signed = false;  // the codes of rows
  int64_t rows = 0, steps = 1, depth = 0, columns = 0;
  // From one number of the constants to the next, in elements.
  int64_t step_stride = 0, depth_stride = 0, column_stride = 0;
  int64_t first_constant = 0;
  int64_t joined = 1;  // steps whose codes lie side by side; a divisor of `steps`
  int64_t first_column = 0, all_columns = 0;
};

// A product of codes prepared for its shape and constants, by words of four, or of two that are widened where the
// processor multiplies no others exactly (CodeForm). Sums are exact as long as they fit into 32 bits.
class CodeProduct {
 public:
  // Writes where the codes of rows begin, by row and joined steps. What a last word has behind them is read, and
  // multiplied by 0.
  using Places = FunctionRef<void(int64_t first, int64_t rows, const float** places)>;
  struct Given {
    const Arguments& arguments;
    const int32_t* starts;  // of the sums, by column, up to a multiple of 64
    // Are added to them: a number for each row times one for each column, likewise; null: nothing.
    const int32_t* row_sums;
    const int32_t* row_factors;
    Places places;
    // Is called for the rows of each piece before they are read, where these are read once; null: nothing is.
    const FunctionRef<void(int64_t first, int64_t rows)>* prepare = nullptr;
  };

  // The number that is added to codes when they are multiplied.
  static int32_t offset(bool are_signed);
  // True if rows have few enough steps.
  static bool fits(const CodeShape& shape);
  CodeProduct(const Layer& layer, const tensor::Tensor& weights, const CodeShape& shape, IntegerEpilogue epilogue);
  void run(const Given& given) const;
  // True if each row belongs to one piece only.
  bool reads_rows_once() const { return division_.reads_rows_once(); }

 private:
  using Part = TileDivision::Part;
  struct Piece {
    IntegerEpilogue::Run& epilogue;
    int64_t row, rows, panel, panels;
    const float* const* places;
    float* sums;       // int32
    int64_t sums_row;  // from one to the next
    bool keeps_all;    // otherwise, those of one tile
  };
  struct Rows {
    int64_t begin, end;
  };

  Buffer pack(const Layer& layer, const tensor::Tensor& weights) const;
  bool keeps_sums() const { return epilogue_.has_tape() || division_.parts.size() > 1; }
  void run_piece(const Given& given, const TileDivision::Piece& piece) const;
  void run_panel(const Given& given, const Piece& piece, int64_t panel, const Part& part) const;
  void finish(const Piece& piece, int64_t panel, float* sums, const Rows& rows) const;

  CodeShape shape_;
  int64_t words_;  // in each step
  IntegerEpilogue epilogue_;
  const TileKernels& kernels_;
  bool makes_codes_;  // of sums that are still in registers
  int64_t panel_columns_;
  TileDivision division_;
  Buffer weights_;
};

}  // namespace assay::engine::cpu
