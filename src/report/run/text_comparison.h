#pragma once

#include <string_view>

#include "base/log.h"
#include "results/run_report.h"

namespace assay::report {

// Options that users can try, in their words, behind the lines that they are about.
struct ComparisonHints {
  std::string_view unpaired = {};                               // an output without a partner
  std::string_view more = {};                                   // a list that was cut
  std::string_view left_out = " that only `mark all` exposes";  // outputs that need no partner
};

// Prints the comparison of two runs in the peer's layout: a block for each output, then the verdicts.
void print_comparison(const results::PairComparison& pair, Log& log, const ComparisonHints& hints = {});
// The outputs of all iterations in one table, the greatest error first; nothing if there is only one row.
void print_error_table(const results::PairComparison& pair, Log& log);
void print_averages(const results::PairAverages& averages, Log& log);
void print_validation(const results::RunReport& report, Log& log);

// `['y', 'z']`
std::string name_list(const std::vector<std::string>& names);

}  // namespace assay::report
