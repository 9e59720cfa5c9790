#pragma once

#include <string>
#include <string_view>

#include "cli/environment.h"
#include "cli/options/arguments.h"

namespace assay::cli {

// The course of `plugin list` and `plugin match`: loads the model, looks for the plugins, writes the file that
// `output` names, if it does, and the report. Gives the exit status.
int run_match_job(std::string_view command, const std::string& output, const Arguments& arguments,
                  Environment& environment);

}  // namespace assay::cli
