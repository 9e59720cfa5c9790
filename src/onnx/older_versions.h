#pragma once

#include "ir/model.h"

namespace assay::onnx {

// Whether a model can be handed to a reader that knows less than its file says, without changing what it computes.

// The lowest IR version that has all that is in the model: its element types, and overloads of functions. Fields that
// do not change what a model computes are left out.
int64_t needed_ir_version(const ir::Model& model);

// Whether every operator of ONNX in the model is the same in this version of the operator set as in the model's own.
// False for models with functions, which import operator sets of their own.
bool is_same_in_opset(const ir::Model& model, int64_t version);

}  // namespace assay::onnx
