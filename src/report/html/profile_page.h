#pragma once

#include <string>

#include "report/html/frame.h"
#include "results/profile_report.h"

namespace assay::report {

// The layers of each backend, and where there are several, their times side by side, as one page.
std::string profile_page(const results::ProfileReport& report, const PageFacts& facts);

}  // namespace assay::report
