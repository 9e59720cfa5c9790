#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: MaxPool or AveragePool over three dims, of known shapes
// After:  the same over the last two, slice by slice, and then over the first
// Only if: MaxPool does not give places.
// Class: rounding; means are taken of means
void spell_deep_pool(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
