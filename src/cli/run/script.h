#pragma once

#include <string>

#include "cli/run/request.h"

namespace assay::cli {

// A Python script over the package assay that does what the options ask for. Error (unsupported) for an option that has
// no counterpart there.
std::string run_script(const RunWords& words, const Arguments& arguments, const std::string& command);

}  // namespace assay::cli
