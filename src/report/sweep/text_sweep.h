#pragma once

#include <string>
#include <vector>

#include "results/sweep.h"

namespace assay::report {

// Lines about a sweep: units by status, metrics, causes, worst samples, changes. `is_full`: every row, not only those
// that are not the same.
std::vector<std::string> sweep_lines(const results::SweepReport& report, bool is_full);
std::vector<std::string> sweep_status_lines(const results::SweepStatus& status);
// `10 same, 1 differs`
std::string counts_text(const std::vector<std::pair<std::string, uint64_t>>& by_status);
std::string_view unit_status_word(results::UnitStatus status);

}  // namespace assay::report
