#pragma once

#include <string>
#include <vector>

#include "results/tuning.h"

namespace assay::report {

// A line for each route, with the time, the ratio to the defaults and its interval, and what is the best.
std::vector<std::string> tuning_lines(const results::Tuning& tuning);

}  // namespace assay::report
