#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/model.h"

namespace assay::surgery {

// Gives stripped weights made-up elements: standard-normal numbers that the seed decides, rounded to the type; 2:4
// sparse where the mark says so. The marks go. Returns the names. Error (limit) if they do not fit into memory.
std::vector<std::string> reconstruct(ir::Model& model, uint64_t seed);

// The same with the elements that a full model has under the same names. Error (usage) where it has none, or of another
// type.
std::vector<std::string> reconstruct(ir::Model& model, const ir::Model& full);

}  // namespace assay::surgery
