#pragma once

#include "ops/operator.h"

namespace assay::ops {

// The row of an operator that the reference leaves out, but whose shapes it knows; nullptr for others.
const Operator* find_shapes_alone(const Node& node);

}  // namespace assay::ops
