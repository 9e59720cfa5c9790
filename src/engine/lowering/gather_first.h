#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: Gather of what Casts and arithmetic with single numbers make of a constant
// After:  Casts and arithmetic of what Gather takes of the constant
// Only if: shapes are known, fewer elements are taken than there are, and nothing else uses what lies between.
// Class: exact
void gather_first(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
