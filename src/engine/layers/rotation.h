#pragma once

#include <optional>
#include <vector>

#include "engine/layers/layer.h"
#include "engine/layers/spelled_rotary.h"

namespace assay::engine {

// Heads whose elements are turned by cosines and sines of their positions: pieces of the last dim of the result.
struct Rotation {
  using Kind = Turn;
  // Elements of an input from one on, side by side; other dims are broadcast to those of the result.
  struct Operand {
    int input = -1;
    TensorDesc desc;
    int64_t first = 0;
    bool is_by_position = false;  // the desc is that of position 0
  };
  struct Piece {
    Kind kind = Kind::copy;
    int64_t width = 0;
    std::vector<Operand> operands;
  };
  // int64 numbers of rows of `row` elements, of which there are `rows`. `following`: how many rows after that one are
  // read as well.
  struct Positions {
    int input = -1;
    TensorDesc desc;  // dims before the last one of the result
    int64_t row = 0, rows = 0, following = 0;
  };
  std::vector<Piece> pieces;
  TensorDesc out;
  float scale = 1;  // of all but pairs
  std::optional<Positions> positions;
};

// The rotary positions of a layer as its operands lie: written out, RotaryEmbedding, or that of com.microsoft, whose
// inputs are in another order. Nullopt: another layer, or one whose parts do not fit each other.
std::optional<Rotation> find_rotation(const Layer& layer);

}  // namespace assay::engine
