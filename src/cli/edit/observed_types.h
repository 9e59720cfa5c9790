#pragma once

#include <span>

#include "base/log.h"
#include "cli/options/groups/model.h"
#include "exec/generated_inputs.h"

namespace assay::cli {

// Runs the model once on made-up inputs and gives the values the types that they have there, with concrete shapes. What
// cannot be computed keeps its type, with a finding that says why.
void observe_types(LoadedModel& loaded, std::span<const ir::ValueId> values, const exec::GenerateOptions& options);

}  // namespace assay::cli
