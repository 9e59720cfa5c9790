#pragma once

#include <string>
#include <vector>

#include "ir/model.h"
#include "passes/precision/float_values.h"
#include "passes/precision/half_options.h"

namespace assay::passes {

// By node: why its values, as far as they are known without a run, do not fit into the half type: they may be too
// large, or become 0 where that matters. Empty: nothing is known against it.
std::vector<std::string> find_misfits(const ir::Model& model, const FloatModel& floats, const HalfOptions& options);

}  // namespace assay::passes
