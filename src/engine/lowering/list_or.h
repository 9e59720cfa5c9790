#pragma once

#include <cstdint>
#include <vector>

#include "ops/node.h"

namespace assay::engine {

// A list of an attribute; one that is not written has this number for each of its items.
std::vector<int64_t> list_or(const ops::Node& facts, const char* name, size_t count, int64_t otherwise);

}  // namespace assay::engine
