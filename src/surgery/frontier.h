#pragma once

#include <vector>

#include "ir/model.h"

namespace assay::surgery {

// The part of the main graph that the inputs do not cut off, restricted to what outputs need.
struct Frontier {
  std::vector<ir::ValueId> values;   // added to the inputs, they complete the cut; all are needed
  std::vector<ir::ValueId> outputs;  // that depend on none of the given inputs, but on missing ones
};

// The values next to the nodes that depend on `given` which these nodes need and `missing` make.
Frontier find_frontier(const ir::Model& model, const std::vector<ir::ValueId>& given,
                       const std::vector<ir::ValueId>& missing);

}  // namespace assay::surgery
