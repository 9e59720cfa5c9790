#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/devices/cpu/tiles/row_groups.h"
#include "engine/devices/cpu/tiles/tile_division.h"
#include "engine/devices/cpu/tiles/tile_kernels.h"
#include "engine/weights/packed_weights.h"

namespace assay::engine::cpu {

// A product of [rows, steps * depth] by constants [steps * depth, columns]. The numbers of a row lie in one place for
// each step, as those of a picture under a window do.
struct TiledShape {
  tensor::DType dtype = tensor::DType::float32;
  int64_t rows = 0, steps = 1, depth = 0, columns = 0;
  // From one number of the constants to the next, in elements.
  int64_t step_stride = 0, depth_stride = 0, column_stride = 0;
  int64_t joined = 1;  // steps of the constants that are one of the product, whose depth has the numbers of all
  int64_t zeros = 0;   // of each of these steps: its last numbers, which the constants do not have
};

// The epilogue of a product in its layer: a tensor is added, bounds are kept, and a tape does the rest.
struct TileEpilogue {
  int added = -1;  // an input of the layer that lies like its result
  std::optional<std::array<float, 2>> bounds;
  Tape tape;
};
// Makes the epilogue of layer.nodes from `done` on, for a product that adds this input itself, or none; nullopt: no
// tape computes it.
std::optional<TileEpilogue> make_tile_epilogue(const Layer& layer, size_t done, int added = -1);

// A product prepared for its shape and constants; sums are in float32, and in the same order whatever the number of
// threads.
class TiledProduct {
 public:
  // Writes where the numbers of rows begin, by row and step.
  using Places = FunctionRef<void(int64_t first, int64_t rows, const float** places)>;
  struct Given {
    Places places;
    const Arguments& arguments;
  };

  // True if this processor multiplies such numbers, rows have few enough steps, and the bias, an input of the layer or
  // -1, can be read.
  static bool fits(const Layer& layer, const TiledShape& shape, int bias);
  // Leaves out steps of rows that are zeros, where it can: those whose bit is not set.
  void leave_out(FunctionRef<uint64_t(int64_t row)> steps_of);
  TiledProduct(const Layer& layer, const tensor::Tensor& weights, const TiledShape& shape, int bias,
               TileEpilogue epilogue);
  void run(const Given& given) const;

 private:
  using Part = TileDivision::Part;
  // Rows and panels that are computed at once, and where their sums are.
  struct Piece {
    int64_t row, rows, panel, panels;
    float* sums = nullptr;
    int64_t sums_row = 0;
  };

  // Rows of a piece.
  struct Rows {
    int64_t begin, end;
  };

  bool are_pairs() const { return shape_.dtype != tensor::DType::float32; }
  const float* find_bias(const Given& given) const;
  Buffer pack(const Layer& layer, const tensor::Tensor& weights) const;
  int64_t columns_of(int64_t panel) const { return std::min(panel_columns_, shape_.columns - panel * panel_columns_); }
  void run_in_place(const Given& given, Piece& piece) const;
  void run_beside(const Given& given, Piece& piece) const;
  void run_piece(const Given& given, const Piece& piece) const;
  Tile first_tile(const Given& given, const Piece& piece, int64_t panel, const Part& part) const;
  void run_panel(const Given& given, const Piece& piece, int64_t panel, const Part& part,
                 const float* const* places) const;
  void run_groups(const Piece& piece, const Part& part, Tile tile) const;
  void place_results(const Given& given, int64_t element, Tile& tile) const;
  void run_apart(const Tile& tile, int64_t columns, size_t vectors) const;
  bool tapes_rows(const Piece& piece) const;
  void run_tape_on_rows(const Given& given, const Piece& piece) const;
  void run_tape(const Given& given, const Piece& piece, int64_t panel, const Rows& rows) const;

  TiledShape shape_;
  int64_t depth_;  // in words
  int bias_;
  std::vector<float> widened_bias_;
  TileEpilogue epilogue_;
  const TileKernels& kernels_;
  int64_t panel_columns_;
  int64_t panel_count_;
  TileDivision division_;
  RowGroups groups_;
  Buffer weights_;
};

}  // namespace assay::engine::cpu
