#pragma once

#include <vector>

#include "ops/kernels/window/resize_attributes.h"

namespace assay::ops {

// Rules and result of Resize and Upsample.
void infer_resize(Infer& node);
// What is to be done along each axis, when infer_resize has found no fault.
std::vector<ResampledAxis> plan_resize(const Eval& node);

}  // namespace assay::ops
