#pragma once

#include <string_view>

#include "passes/pass.h"

namespace assay::passes {

// Whether the operator of ai.onnx is one of these, of its version 8 or later.
bool is_elementwise(std::string_view op);
// Whether each element of the only result follows from the elements of the operands at its place, where those of fewer
// dims or of size 1 are broadcast as in numpy: Add, Relu, Where.
bool is_elementwise(PassRun& run, ir::NodeId node);

}  // namespace assay::passes
