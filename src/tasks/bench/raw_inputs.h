#pragma once

#include "exec/signature.h"
#include "tasks/bench.h"

namespace assay::tasks {

// Replaces values of `set` by the bytes of files, which must have exactly their types and shapes. `what` the values
// are, for messages.
void read_raw_inputs(const std::vector<RawInput>& raw, tensor::NamedData& set, std::string_view what = "input");

}  // namespace assay::tasks
