#pragma once

#include <string>

#include "report/html/frame.h"
#include "results/run_report.h"

namespace assay::report {

// The whole report as one self-contained page of less than 5 MB: with many outputs, only the failed and the worst
// ones have all details, and the page says so.
std::string html_page(const results::RunReport& report, const PageFacts& facts);

}  // namespace assay::report
