#pragma once

#include <string>

#include "cli/environment.h"
#include "cli/options/arguments.h"

namespace assay::cli {

// `inspect diff` of two files of tensors: their runs are compared in order, iteration by iteration. Prints the
// comparison and returns the exit status.
int diff_data(const std::string& path_a, const std::string& path_b, const Arguments& arguments,
              Environment& environment);

}  // namespace assay::cli
