#pragma once

#include "cli/options/arguments.h"
#include "cli/options/groups/model.h"
#include "cli/options/spec.h"
#include "tasks/inputs.h"

namespace assay::cli {

// Options for generating inputs: `--seed`, `--val-range`, `--input-shapes` or the command's name for it, ...
OptionGroup data_group(std::vector<std::string_view> shape_options = {"--input-shapes", "--inputs"});
// Inputs from files or a script, instead of generated ones: `--load-inputs`, `--data-loader-script`, ...
std::vector<OptionRow> saved_input_rows();
exec::GenerateOptions generate_options(const Arguments& arguments, std::string_view shape_option = "--input-shapes");

}  // namespace assay::cli
