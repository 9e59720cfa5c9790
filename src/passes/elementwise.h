#pragma once

#include <string_view>

#include "passes/pass.h"

namespace assay::passes {

// True if the operator of ai.onnx is elementwise, in its version 8 or later.
bool is_elementwise(std::string_view op);
// True if each element of the only result follows from the elements of the operands at its place, of which those of
// fewer dims or of size 1 are broadcast as in numpy: Add, Relu, Where.
bool is_elementwise(PassRun& run, ir::NodeId node);

}  // namespace assay::passes
