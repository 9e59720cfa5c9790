#pragma once

#include <string>

#include "cli/options/arguments.h"

namespace assay::cli {

// The options about backends of a command, each with a blank before it, for another command about the same sides.
std::string settings_words(const Arguments& arguments);

}  // namespace assay::cli
