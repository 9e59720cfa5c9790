#pragma once

#include <string_view>

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/spec.h"

namespace assay::cli {

// `--json FILE|-`, for every command that reports.
OptionGroup json_group();

// True if a JSON report is requested.
bool wants_json(const Arguments& arguments);
// True if the report is written to standard output, which then must not contain other text.
bool json_on_stdout(const Arguments& arguments);

}  // namespace assay::cli
