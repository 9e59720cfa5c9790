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
// What data_limits_group() says, for the whole process.
void limit_data_memory(const Arguments& arguments);

// Loads all files named, and changes what they hold as data_change_group() says.
std::vector<formats::DataPart> load_parts(const Arguments& arguments);
// Saves to where `-o` says, in the form that its name says, and says so.
void save_data(const formats::SavedData& data, const Arguments& arguments, Environment& environment);
// Runs `data merge` and `data to-input`.
int run_data_merge(const Arguments& arguments, Environment& environment);

}  // namespace assay::cli
