#pragma once

#include <span>

#include "base/log.h"
#include "cli/input_data.h"
#include "cli/options/groups/model.h"

namespace assay::cli {

// Runs the model once on these inputs and gives the values the types that they have there, with concrete shapes. What
// cannot be computed keeps its type, with a finding that says why.
void observe_types(LoadedModel& loaded, std::span<const ir::ValueId> values, const InputData& data);

}  // namespace assay::cli
