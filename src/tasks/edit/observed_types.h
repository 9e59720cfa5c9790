#pragma once

#include <span>

#include "tasks/inputs.h"
#include "tasks/load.h"

namespace assay::tasks {

// Runs the model once on these inputs and sets the types of values to those seen, with concrete shapes. Values that
// cannot be computed keep their types, with a finding that says why.
void observe_types(LoadedModel& loaded, std::span<const ir::ValueId> values, const InputData& data);

}  // namespace assay::tasks
