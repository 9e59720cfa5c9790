#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: Cast of a Concat whose operands are computed element by element, and perhaps moved, and whose parts are
//         pieces of its result
// After:  Concat of what has been cast where it is computed
// Only if: nothing else uses what lies between.
// Class: exact
void cast_before_concat(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
