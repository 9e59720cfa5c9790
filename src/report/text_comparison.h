#pragma once

#include "base/log.h"
#include "results/run_report.h"

namespace assay::report {

// Prints the comparison of two runs in the peer's layout: a block for each output, then the verdicts.
// `unpaired_hint` follows the line about an output without a partner.
void print_comparison(const results::PairComparison& pair, Log& log, std::string_view unpaired_hint = {});
// The outputs of all iterations in one table, the greatest error first; nothing if there is only one row.
void print_error_table(const results::PairComparison& pair, Log& log);
void print_averages(const results::PairAverages& averages, Log& log);
void print_validation(const results::RunReport& report, Log& log);

// `['y', 'z']`
std::string name_list(const std::vector<std::string>& names);

}  // namespace assay::report
