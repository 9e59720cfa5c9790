#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/layers/layer.h"

namespace assay::engine {

// Ways to make an element of neighbours.
enum class Turn : uint8_t {
  copy,        // a
  sum,         // a * b + c * d
  difference,  // a * b - c * d
  pairs,       // neighbours x, y of a by cosines b and sines c, one for both: x * b - y * c, y * b + x * c
  neighbours   // likewise, with a cosine and a sine for each of them
};

// Rotary positions that are written out in operators: pieces of the result's last dim, one after the other.
struct SpelledRotary {
  // Elements of a value's last dim from one on; other dims are broadcast to those of the result.
  struct Part {
    ir::ValueId value;
    int64_t first = 0;
  };
  struct Piece {
    Turn turn = Turn::copy;
    int64_t width = 0;
    std::vector<Part> parts;
  };
  std::vector<Piece> pieces;
  float scale = 1;                // of all of them
  std::vector<ir::NodeId> nodes;  // in order
};

// The rotary positions that end with this node: Add(Mul(x, cos), Mul(Concat(Neg(right), left), sin)), or with the odd
// and even elements, which Concat puts beside each other along a dim of their own, in place of halves, or a Concat of
// that and of what is not turned, or Concat(Sub(Mul(a, cos), Mul(b, sin)), Add(Mul(b, cos), Mul(a, sin))), perhaps with
// more operands; or a Mul of that by a number. Nullopt: something else, or others use what is in between.
std::optional<SpelledRotary> match_rotary(const ir::Model& model, const ops::Inference& inference, ir::NodeId last,
                                          const ConstantOf& constant);
inline constexpr size_t kMostRotaryPieces = 8;

// The nodes that cut the last dim of what a value is a part of, the last one first.
std::vector<ir::NodeId> last_cuts(const ir::Model& model, const ops::Inference& inference, ir::ValueId value,
                                  const ConstantOf& constant);

}  // namespace assay::engine
