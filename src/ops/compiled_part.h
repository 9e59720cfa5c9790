#pragma once

#include "ir/model.h"

namespace assay::ops {

// True for a node that holds a part of the model as an execution provider of ONNX Runtime has compiled it: nobody else
// can know what it computes.
bool is_compiled_part(const ir::Model& model, const ir::Node& node);

}  // namespace assay::ops
