#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/type.h"
#include "passes/pass.h"

namespace assay::passes {

// True if a node keeps all elements of its first operand in their order: Reshape, Flatten, Squeeze, Unsqueeze.
bool is_reshape(PassRun& run, ir::NodeId node);
// The target of a Reshape that gives these dims: numbers, and -1 for one that only a run knows. Empty if there are more
// of those, or a dim is 0.
std::optional<std::vector<int64_t>> reshape_target(const ops::Dims& dims);

// Nodes that only move elements, for patches that write nodes anew.
ir::PatchValue add_transpose(PassRun& run, ir::Patch& patch, ir::PatchValue value, const std::vector<int64_t>& order);
ir::PatchValue add_reshape(ir::Patch& patch, ir::PatchValue value, const std::vector<int64_t>& dims);
// A product of rows by weights that lie by result, [columns, depth], and a bias row, which may be none.
ir::PatchValue add_row_product(PassRun& run, ir::Patch& patch, const std::vector<ir::PatchValue>& operands);

}  // namespace assay::passes
