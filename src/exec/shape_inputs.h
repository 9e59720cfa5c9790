#pragma once

#include <vector>

#include "ir/model.h"

namespace assay::exec {

// Inputs of the main graph whose elements decide the shape of a value, directly (the second input of Reshape) or after
// nodes that compute with them.
std::vector<ir::ValueId> shape_inputs(const ir::Model& model);

}  // namespace assay::exec
