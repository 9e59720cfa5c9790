#pragma once

#include <string>
#include <vector>

#include "convert/precision/float_values.h"
#include "convert/precision/half_options.h"
#include "ir/model.h"

namespace assay::convert {

// By node: why its values, as far as they are known without a run, do not fit into the half type: they may be too
// large, or become 0 where that matters. Empty: nothing is known against it.
std::vector<std::string> find_misfits(const ir::Model& model, const FloatModel& floats, const HalfOptions& options);

}  // namespace assay::convert
