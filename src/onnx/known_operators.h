#pragma once

#include "base/diagnostics.h"
#include "ir/model.h"

namespace assay::onnx {

// Reports operators and versions that no released ONNX has, domains that are not ONNX's, and domains that nodes use
// without an opset_import. Each once, with how often it occurs.
void check_operators(const ir::Model& model, Diagnostics& diagnostics);

}  // namespace assay::onnx
