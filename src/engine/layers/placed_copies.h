#pragma once

#include <vector>

#include "engine/layers/layer.h"

namespace assay::engine {

// One of several copies: where its elements are, from the beginning of a layer's input and output.
struct CopyPart {
  size_t input = 0;
  TensorDesc from;
  TensorDesc to;
  int64_t to_offset = 0;  // elements
};

// The copies that put a layer's operands one behind the other along the attribute's axis; empty: they differ in type or
// rank.
std::vector<CopyPart> concat_copies(const Layer& layer);
// The copy that moves blocks of a layer's operand from depth to space, or from space to depth; empty: there are no
// elements, or none of whole bytes.
std::vector<CopyPart> block_copies(const Layer& layer, bool is_to_space);

}  // namespace assay::engine
