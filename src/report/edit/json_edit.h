#pragma once

#include <string>

#include "results/edit_report.h"

namespace assay::report {

// One JSON object of the schema assay/<command>/1, with hyphens for spaces in the command's name.
std::string edit_json(const results::EditReport& report);

}  // namespace assay::report
