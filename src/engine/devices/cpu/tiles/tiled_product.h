#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/devices/cpu/tiles/tile_kernels.h"
#include "engine/packed_weights.h"

namespace assay::engine::cpu {

// A product of [rows, steps * depth] by constants [steps * depth, columns]. The numbers of a row lie in one place for
// each step, as those of a picture under a window do.
struct TiledShape {
  int64_t rows = 0, steps = 1, depth = 0, columns = 0;
  // From one number of the constants to the next, in elements.
  int64_t step_stride = 0, depth_stride = 0, column_stride = 0;
};

// What follows a product in its layer: a tensor is added, bounds are kept, and a tape does the rest.
struct TileEpilogue {
  int added = -1;  // an input of the layer that lies like its result
  std::optional<std::array<float, 2>> bounds;
  Tape tape;
};
// Of layer.nodes from `done` on, where the product adds this input itself, or none; nullopt: no tape computes them.
std::optional<TileEpilogue> make_tile_epilogue(const Layer& layer, size_t done, int added = -1);

// A product prepared for its shape and constants; sums are in the same order whatever the number of threads.
class TiledProduct {
 public:
  // Writes where the numbers of a row begin, by step.
  using Places = FunctionRef<void(int64_t row, const float** places)>;
  struct Given {
    Places places;
    const float* bias = nullptr;  // null: none
    const Arguments& arguments;
  };

  // Whether rows have few enough steps.
  static bool fits(const TiledShape& shape);
  TiledProduct(const Layer& layer, const tensor::Tensor& weights, const TiledShape& shape, TileEpilogue epilogue);
  void run(const Given& given) const;

 private:
  // A part of the sums whose constants stay in the second cache.
  struct Part {
    int64_t step, steps, first, depth;
  };
  // Rows and panels that are computed at once.
  struct Piece {
    int64_t row, rows, panel, panels;
  };

  void divide_depth();
  void divide_work();
  PackedWeights::Bytes pack(const Layer& layer, const tensor::Tensor& weights) const;
  int64_t columns_of(int64_t panel) const { return std::min(panel_columns_, shape_.columns - panel * panel_columns_); }
  void run_piece(const Given& given, const Piece& piece) const;
  void run_panel(const Given& given, const Piece& piece, int64_t panel, const Part& part,
                 const float* const* places) const;
  void run_apart(const Tile& tile, int64_t columns, size_t vectors) const;
  void run_tape(const Given& given, const Piece& piece) const;

  TiledShape shape_;
  TileEpilogue epilogue_;
  const TileKernels& kernels_;
  int64_t panel_columns_;
  int64_t panel_count_;
  int64_t block_rows_ = 1;    // of a piece
  int64_t block_panels_ = 1;  // likewise
  std::vector<Part> parts_;
  PackedWeights::Bytes weights_;
};

}  // namespace assay::engine::cpu
