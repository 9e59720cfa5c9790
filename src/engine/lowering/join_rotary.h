#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: parts of one Split side by side that become heads, as queries and keys do, each turned by the same angles
// After:  one part that becomes all their heads, turned at once, and a Split of the heads
// Only if: rotary positions are written out with halves; the same nodes turn both, and nothing else uses what lies
//          between; angles are the same for all heads; neither result is an output of the model.
// Class: exact
void join_rotary(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
