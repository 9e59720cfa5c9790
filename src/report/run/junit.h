#pragma once

#include <string>

#include "results/run_report.h"

namespace assay::report {

// The verdicts as JUnit XML: a suite for each pair of runs, for the validation, for averages and for runners that
// failed; a case for each output and iteration.
std::string junit_xml(const results::RunReport& report);

}  // namespace assay::report
