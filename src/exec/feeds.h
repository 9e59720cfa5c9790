#pragma once

#include "exec/backend.h"

namespace assay::exec {

// Inputs of the main graph that a caller must give: those without a default.
std::vector<ir::ValueId> required_inputs(const ir::Model& model);

// The feeds of the model's inputs, by name, in the model's order; unused ones are left out with a
// finding. Error (usage) if an input is missing or its type, rank or dims are not those that the model declares.
std::vector<Feed> check_feeds(const ir::Model& model, const tensor::NamedData& given, Diagnostics& findings);

}  // namespace assay::exec
