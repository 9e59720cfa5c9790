#pragma once

#include <string>
#include <string_view>

#include "cli/environment.h"
#include "cli/options/arguments.h"

namespace assay::cli {

// Runs `plugin list` and `plugin match`. `config` is the file to write; empty: none. Returns the exit status.
int run_match(std::string_view command, const std::string& config, const Arguments& arguments,
              Environment& environment);

}  // namespace assay::cli
