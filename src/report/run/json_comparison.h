#pragma once

#include "base/json.h"
#include "results/run_report.h"

namespace assay::report {

// "key": [1, 2], or null.
void write_index(JsonWriter& json, std::string_view key, const std::optional<std::vector<int64_t>>& index);
// The comparison of two runs as one object: every output of every iteration with all that was measured.
void write_pair(JsonWriter& json, const results::PairComparison& pair);
void write_averages(JsonWriter& json, const results::PairAverages& averages);
std::string_view text(results::Verdict verdict);

}  // namespace assay::report
