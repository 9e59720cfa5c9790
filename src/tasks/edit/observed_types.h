#pragma once

#include <span>

#include "tasks/inputs.h"
#include "tasks/load.h"

namespace assay::tasks {

// Runs the model once on these inputs and gives the values the types that they have there, with concrete shapes. What
// cannot be computed keeps its type, with a finding that says why.
void observe_types(LoadedModel& loaded, std::span<const ir::ValueId> values, const InputData& data);

}  // namespace assay::tasks
