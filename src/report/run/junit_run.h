#pragma once

#include "report/junit.h"
#include "results/run_report.h"

namespace assay::report {

// A case for each run, and for each output and iteration of each pair. Runs have their names without the time of day,
// which would make other tests of them each time.
JunitSuite junit_suite(const results::RunReport& report);

}  // namespace assay::report
