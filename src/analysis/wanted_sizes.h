#pragma once

#include <vector>

#include "ops/inference.h"

namespace assay::analysis {

// Sizes that open dims may need for a model as a whole: small ones, powers of two, and what its windows reach over and
// step by. Ascending, without 1.
std::vector<int64_t> usual_sizes(const ir::Model& model);

// Sizes that one node speaks of: those of its constants, their elements where they are few integers, its window, and
// the known dims of its operands. Ascending, without 1.
std::vector<int64_t> sizes_at(const ir::Model& model, const ops::Inference& inference, ir::NodeId node);

}  // namespace assay::analysis
