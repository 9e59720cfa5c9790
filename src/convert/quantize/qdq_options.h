#pragma once

#include <set>

#include "convert/layers.h"

namespace assay::convert {

// Options for making nodes work on integers, by default all that quantizable_ops() names.
struct QdqOptions {
  bool asymmetric = false;  // activations as uint8 with a zero point, in the place of int8 around 0
  bool per_channel = true;  // a scale for each output channel of a weight
  LayerChoice choice = {};
  std::set<ir::ValueId> clipped = {};  // weights of which numbers may be cut off, for the least square error
};

}  // namespace assay::convert
