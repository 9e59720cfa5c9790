#pragma once

#include <vector>

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/logging.h"
#include "formats/combine.h"

namespace assay::cli {

// What the `data` commands share.

// The files to read, one or more.
OptionRow data_files_positional();
// `-o FILE`
OptionGroup data_output_group();

// `--runner`, `--select`, `--drop`, `--rename`, `--cast`
OptionGroup data_change_group();

// `--max-memory`
OptionGroup data_limits_group();
// Applies data_limits_group() to the whole process.
void limit_data_memory(const Arguments& arguments);

// Loads all named files and applies the changes of data_change_group().
std::vector<formats::DataPart> load_parts(const Arguments& arguments);
// Saves to the file of `-o`, in the form that its name implies, and logs it.
void save_data(const formats::SavedData& data, const Arguments& arguments, Environment& environment);
// Runs `data merge` and `data to-input`.
int run_data_merge(const Arguments& arguments, Environment& environment);

}  // namespace assay::cli
