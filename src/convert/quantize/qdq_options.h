#pragma once

#include <cstdint>
#include <set>

#include "convert/layers.h"
#include "convert/quantize/store_constant.h"

namespace assay::convert {

// The codes of activations; those of weights are signed.
enum class QdqCodes : uint8_t {
  int8,    // around 0
  uint8,   // with a zero point
  float8,  // float8e4m3fn
};

// Options for making nodes work on integers, by default all that quantizable_ops() names, or on float8.
struct QdqOptions {
  QdqCodes codes = QdqCodes::int8;
  bool operands_only = false;  // operands of products are rounded, and nothing else; of float8 always
  bool per_channel = true;     // a scale for each output channel of a weight
  LayerChoice choice = {};
  std::set<ir::ValueId> clipped = {};  // weights of which numbers may be cut off, for the least square error
  StoreConstant store = {};            // of codes; null: they stay in memory
};

}  // namespace assay::convert
