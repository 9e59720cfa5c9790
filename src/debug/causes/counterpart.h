#pragma once

#include <map>

#include "debug/causes/causes.h"

namespace assay::debug {

// The other model of a comparison, and which of its values and nodes correspond to those of the first.
struct Counterpart {
  const ir::Model& model;
  std::map<ir::ValueId, ir::ValueId> values;  // by values of the first model: inputs and results
  std::vector<ir::NodeId> nodes = {};         // by node of the first model; none where there is no counterpart
};

// Tells how the other model's layer differs if, computed exactly, it gives what the side gave: another operator,
// attribute, constant or order of inputs, or a narrower type.
std::optional<Cause> difference_from(const CauseCase& given, const Counterpart& other);

}  // namespace assay::debug
