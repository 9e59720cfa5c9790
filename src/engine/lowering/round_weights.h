#pragma once

#include "base/function_ref.h"
#include "ir/rewriter.h"

namespace assay::engine {

// Constant matrices by which `few_rows` at most are multiplied become numbers of bfloat16, still as float32: such
// products take as long as reading them. Nodes that are `kept` stay as they are.
void round_weights(ir::Model& model, ir::Rewriter& rewriter, int64_t few_rows, FunctionRef<bool(ir::NodeId)> is_kept);

}  // namespace assay::engine
