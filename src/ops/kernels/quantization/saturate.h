#pragma once

#include <vector>

#include "ops/eval.h"

namespace assay::ops {

// Sets an output to computed numbers: floating types round, integers truncate and are held within their range.
void store_saturated(Eval& node, uint32_t output, std::vector<double> elements);

}  // namespace assay::ops
