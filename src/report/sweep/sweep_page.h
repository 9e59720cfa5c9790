#pragma once

#include <string>

#include "report/html/frame.h"
#include "report/junit.h"
#include "results/sweep.h"

namespace assay::report {

// One page that needs no network: models by variants and sides, metrics, causes, worst samples, changes.
std::string sweep_page(const results::SweepReport& report, const PageFacts& facts);
// A suite for each model, a case for each variant on each side.
std::vector<JunitSuite> sweep_suites(const results::SweepReport& report);

}  // namespace assay::report
