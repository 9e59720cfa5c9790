#pragma once

#include "ir/model.h"

namespace assay::onnx {

// True if every operator of ONNX in the model is the same in this version of the operator set as in the model's own.
// False for models with functions, which import operator sets of their own.
bool is_same_in_opset(const ir::Model& model, int64_t version);

}  // namespace assay::onnx
