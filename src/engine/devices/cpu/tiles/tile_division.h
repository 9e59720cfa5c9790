#pragma once

#include <vector>

#include "base/function_ref.h"
#include "engine/devices/cpu/tiles/tile_kernels.h"

namespace assay::engine::cpu {

// A product on tiles: what there is to divide.
struct TileWork {
  int64_t rows = 0, steps = 1;
  int64_t depth = 0;  // words in each step
  int64_t columns = 0;
  int64_t most_sums = 0;   // of a piece that keeps them apart; 0: they are kept in the result
  bool keeps_sums = true;  // applies if the depth is one part
  int64_t most_panels = 4;
  bool keeps_rows = false;  // of many rows, each belongs to one piece, unless there are many panels, too
  size_t vectors = 0;       // of a panel; 0: as many as kernels take
};

// The depth of a product in parts whose constants stay in the first or second cache, and its result in pieces whose
// rows do.
class TileDivision {
 public:
  struct Part {
    int64_t step, steps, first, depth;
  };
  struct Piece {
    int64_t row, rows, panel, panels;
  };
  static constexpr int64_t kMostPlaces = 4096;  // of a piece, on the stack

  // True if rows have few enough steps.
  static bool can_divide(int64_t steps);
  TileDivision(const TileWork& work, const TileKernels& kernels);
  // Calls for each piece, on all threads.
  void run(FunctionRef<void(const Piece& piece)> fn) const;
  bool reads_rows_once() const { return groups() == 1; }
  int64_t block_rows() const { return block_rows_; }  // of a piece, but for the last one

  std::vector<Part> parts;

 private:
  int64_t part_depth() const;
  void divide_depth();
  void divide_result(const TileKernels& kernels);
  void even_out(int64_t threads, const TileKernels& kernels);
  double busy(int64_t threads, int64_t width) const;
  int64_t groups() const;
  int64_t blocks() const;
  Piece piece(int64_t number) const;

  TileWork work_;
  size_t panel_vectors_;
  int64_t panel_columns_;
  int64_t panel_count_;
  int64_t block_rows_ = 1;    // of a piece
  int64_t block_panels_ = 1;  // likewise
};

}  // namespace assay::engine::cpu
