#pragma once

#include <vector>

#include "convert/precision/float_values.h"
#include "convert/precision/half_plan.h"

namespace assay::convert {

// By value: what stays float32 and may hold finite numbers that bfloat16 makes infinite, as masks of float32's least
// number do. A Clip stands before a Cast of these. Of the model's inputs, those that are added or chosen and that no
// product reads.
std::vector<bool> find_wide_values(const ir::Model& model, const FloatModel& floats, const HalfPlan& plan);

}  // namespace assay::convert
