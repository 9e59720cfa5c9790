#pragma once

#include <string>

#include "results/profile_report.h"

namespace assay::report {

// One run of each backend as trace events, which Chrome and Perfetto show: a process for each backend, and in it the
// layers in their order.
std::string profile_trace(const results::ProfileReport& report);

}  // namespace assay::report
