#pragma once

#include <vector>

#include "ops/inference.h"

namespace assay::analysis {

// Values that decide the size of a result (limit of Range, pads of Pad, sizes of Resize, repeats of Tile, shape of
// Expand) if that depends on data and is not bounded: neither by constants and input shapes nor by a preceding Min.
std::vector<ir::ValueId> unbounded_sizes(const ir::Model& model, const ops::Inference& inference);

}  // namespace assay::analysis
