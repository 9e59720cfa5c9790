#pragma once

#include "ir/model.h"

namespace assay::ir {

// The lowest IR version that has all that is in the model: its element types, and overloads of functions. Fields that
// do not change what a model computes are left out.
int64_t needed_ir_version(const Model& model);

}  // namespace assay::ir
