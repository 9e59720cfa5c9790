#pragma once

#include "ir/model.h"
#include "results/capability.h"
#include "results/compatibility.h"

namespace assay::inspect {

// The nodes of a model in ranges that a backend takes and ranges that it refuses.
std::vector<results::NodeRange> node_ranges(const ir::Model& model, const results::BackendCompatibility& found);

}  // namespace assay::inspect
