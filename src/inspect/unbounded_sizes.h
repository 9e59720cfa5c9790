#pragma once

#include <vector>

#include "ops/inference.h"

namespace assay::inspect {

// Values that say how large a result becomes (limit of Range, pads of Pad, sizes of Resize, repeats of Tile, shape of
// Expand) where that depends on data and nothing bounds it: neither constants and input shapes nor a Min before it.
std::vector<ir::ValueId> unbounded_sizes(const ir::Model& model, const ops::Inference& inference);

}  // namespace assay::inspect
