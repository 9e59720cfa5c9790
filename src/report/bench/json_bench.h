#pragma once

#include <string>

#include "results/bench.h"

namespace assay::report {

// One JSON object of the schema assay/bench/1.
std::string bench_json(const results::Bench& bench, bool has_samples);

}  // namespace assay::report
