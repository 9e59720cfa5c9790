#pragma once

#include <string>

#include "base/json.h"
#include "results/debug.h"

namespace assay::report {

// `assay/debug-build/1`, `assay/debug-repeat/1`.
std::string debug_json(const results::DebugReport& report);

// `assay/debug-reduce/1`.
std::string reduce_json(const results::ReduceReport& report);
// The fields of a loop: counts and iterations.
void write_loop(JsonWriter& json, const results::DebugLoop& loop);

}  // namespace assay::report
