#pragma once

#include <string>
#include <vector>

#include "report/html/output.h"
#include "results/run_report.h"

namespace assay::report {

// All outputs of one pair, the worst first, until the text would be longer than `most_bytes`; outputs whose number is
// below `sections` are linked to their sections.
std::string output_table(const std::vector<PageOutput>& outputs, size_t sections, size_t most_bytes);

// The time and iterations of each run.
std::string runner_table(const results::RunReport& report);
// The results of validation (NaN and infinity), failures first.
std::string validation_table(const std::vector<results::ValidatedOutput>& validated);
std::string averages_table(const results::PairAverages& averages);
// The steps of a generation: the token of each side, and their differences.
std::string generation_table(const results::RunReport& report);

}  // namespace assay::report
