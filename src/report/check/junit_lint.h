#pragma once

#include "report/junit.h"
#include "results/lint_report.h"

namespace assay::report {

// A case for each finding that is more than worth knowing: a failure if it is an exception, or `warnings_fail`,
// otherwise skipped. A model without any has one case, which passes.
JunitSuite junit_suite(const results::LintReport& report, bool warnings_fail);

}  // namespace assay::report
