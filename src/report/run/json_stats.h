#pragma once

#include "base/json.h"
#include "results/tensor_stats.h"

namespace assay::report {

// Writes statistics as an object.
void write_stats(JsonWriter& json, const results::TensorStats& stats);

}  // namespace assay::report
