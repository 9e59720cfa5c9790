#pragma once

#include <string>

#include "report/html/frame.h"
#include "results/bench.h"

namespace assay::report {

// Statistics and the distribution of the times of each backend, and how they compare, as one page.
std::string bench_page(const results::Bench& bench, const PageFacts& facts);

}  // namespace assay::report
