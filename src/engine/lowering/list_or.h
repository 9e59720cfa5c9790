#pragma once

#include <vector>

#include "passes/pass.h"

namespace assay::engine {

// Nodes that only move elements, for patches that write nodes anew.
ir::PatchValue add_transpose(passes::PassRun& run, ir::Patch& patch, ir::PatchValue value,
                             const std::vector<int64_t>& order);
ir::PatchValue add_reshape(ir::Patch& patch, ir::PatchValue value, const std::vector<int64_t>& dims);

// A list of an attribute; one that is not written has this number for each of its items.
std::vector<int64_t> list_or(const ops::Node& facts, const char* name, size_t count, int64_t otherwise);

}  // namespace assay::engine
