#pragma once

#include "base/diagnostics.h"
#include "exec/session.h"

namespace assay::exec {

// Inputs of the main graph that a caller must give: those without a default.
std::vector<ir::ValueId> required_inputs(const ir::Model& model);

// The feeds of a session's inputs, by name, in its order; unused ones are left out with a finding. Error (usage) if an
// input is missing or its type, rank or dims are not those declared.
std::vector<Feed> check_feeds(const Signature& signature, const tensor::NamedData& given, Diagnostics& findings);

}  // namespace assay::exec
