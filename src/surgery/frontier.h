#pragma once

#include <vector>

#include "ir/model.h"

namespace assay::surgery {

// What inputs leave open in the main graph, of which nothing is left but what outputs need.
struct Frontier {
  std::vector<ir::ValueId> values;   // given too, they complete the cut: none can be left out
  std::vector<ir::ValueId> outputs;  // that depend on none of the given inputs, but on missing ones
};

// The values next to the nodes that depend on `given` which these nodes need and `missing` make.
Frontier find_frontier(const ir::Model& model, const std::vector<ir::ValueId>& given,
                       const std::vector<ir::ValueId>& missing);

}  // namespace assay::surgery
