#pragma once

#include <optional>
#include <vector>

#include "engine/layers/tensor_desc.h"

namespace assay::engine {

// The dims of an elementwise result that are not 1, in the order of its memory, outermost first.
std::vector<int64_t> walked_extents(const TensorDesc& out);
// By such dim, how far apart neighbours of an operand are; nullopt: it does not broadcast to the result.
std::optional<std::vector<int64_t>> walked_strides(const TensorDesc& operand, const TensorDesc& out);
// Makes one dim of neighbours that all operands run through alike; there is one at least afterwards.
void join_walked(std::vector<int64_t>& extents, const std::vector<std::vector<int64_t>*>& strides);
// The offset of an operand's element that stands at place `at` of the result.
int64_t walked_offset(const std::vector<int64_t>& extents, const std::vector<int64_t>& strides, int64_t at);

}  // namespace assay::engine
