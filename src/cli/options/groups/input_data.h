#pragma once

#include <string_view>

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/inputs.h"

namespace assay::cli {

// The source of a model's inputs: files, a script, or generated.

// The rows of data_group and saved_input_rows, and `--iterations` and `--python`, for commands that do not have these
// from other groups. `runs_once`: the command uses one iteration only.
OptionGroup input_data_group(std::vector<std::string_view> shape_options = {"--input-shapes", "--inputs"},
                             bool runs_once = false);

// True if the user gives inputs.
bool has_input_data(const Arguments& arguments);
// Error (usage, unsupported) for contradictory or unsupported options, before the model is read.
void check_input_data(const Arguments& arguments, std::string_view shape_option = "--input-shapes",
                      uint64_t least_iterations = 1);
// The request that the options make.
tasks::InputRequest input_request(const Arguments& arguments, std::string_view shape_option = "--input-shapes",
                                  uint64_t least_iterations = 1);

}  // namespace assay::cli
