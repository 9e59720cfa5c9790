#pragma once

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/logging.h"
#include "tasks/data.h"

namespace assay::cli {

// Helpers that the `data` commands share.

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

// The files, the changes of data_change_group() and the file of `-o`.
tasks::DataRequest data_request(const Arguments& arguments);
// Runs `data merge` and `data to-input`.
int run_data_merge(const Arguments& arguments, Environment& environment);

}  // namespace assay::cli
