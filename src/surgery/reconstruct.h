#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/model.h"

namespace assay::surgery {

// Fills stripped weights with standard-normal numbers from the seed, rounded to the type; 2:4 sparse if the mark says
// so. Removes the marks. Returns the names. Error (limit) if they do not fit into memory.
std::vector<std::string> reconstruct(ir::Model& model, uint64_t seed);

// Reconstructs the elements from a full model under the same names. Error (usage) if it lacks one or has another type.
std::vector<std::string> reconstruct(ir::Model& model, const ir::Model& full);

}  // namespace assay::surgery
