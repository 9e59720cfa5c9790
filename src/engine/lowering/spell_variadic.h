#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: Sum, Max, Min or Mean of floats, of two or more operands (Max and Min: of three or more)
// After:  the operator of two, from the first operand to the last; a mean's sum divided by their number
// Class: rounding; sums are rounded more than once
void spell_variadic(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
