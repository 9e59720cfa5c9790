#pragma once

#include "cli/options/arguments.h"
#include "cli/options/groups/model.h"
#include "cli/options/spec.h"
#include "tasks/inputs.h"

namespace assay::cli {

// How inputs are made up: `--seed`, `--val-range`, `--input-shapes` or what a command calls it, ...
OptionGroup data_group(std::vector<std::string_view> shape_options = {"--input-shapes", "--inputs"});
// Inputs in files or from a script, in the place of made-up ones: `--load-inputs`, `--data-loader-script`, ...
std::vector<OptionRow> saved_input_rows();
exec::GenerateOptions generate_options(const Arguments& arguments, std::string_view shape_option = "--input-shapes");

}  // namespace assay::cli
