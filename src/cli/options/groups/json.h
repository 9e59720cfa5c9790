#pragma once

#include <string_view>

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/spec.h"

namespace assay::cli {

// `--json FILE|-`, for every command that reports.
OptionGroup json_group();

// Whether a JSON report is requested.
bool wants_json(const Arguments& arguments);
// Whether it is written to standard output, which then must not contain other text.
bool json_on_stdout(const Arguments& arguments);
// Writes the report to the target of `--json`: standard output, or a file that appears when it is complete.
void write_json(const Arguments& arguments, Environment& environment, std::string_view report);

}  // namespace assay::cli
