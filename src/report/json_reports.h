#pragma once

#include <string>

namespace assay::report {

// The report of a command as one JSON object, from its description in results/fields. `is_full`: with details.
template <typename T>
std::string report_json(const T& report, bool is_full = true);

}  // namespace assay::report
