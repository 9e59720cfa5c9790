#pragma once

#include <string>
#include <vector>

#include "results/bench_sweep.h"

namespace assay::report {

// A line for each point: medians of all backends, runs in a second, and how the time grew.
std::vector<std::string> sweep_lines(const results::BenchSweep& sweep);

}  // namespace assay::report
