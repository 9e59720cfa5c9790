#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/options/arguments.h"

namespace assay::cli {

// Tasks name settings of requests; here they become the command's options.

// The remedy, which goes without saying, of an output that would overwrite what must stay: no report is written then.
inline constexpr std::string_view kAnotherFile = "another_file";

// Behind a list that was cut.
inline constexpr std::string_view kListsAll = " (-v lists them)";

// The option for a setting: `--max-memory` for `max_memory`, under its main name if the command has it.
std::string option_of(std::string_view setting, const Arguments& arguments);
// The option that lifts an error or a finding, to be put after its text: ` (--max-memory)`. Empty if the command has no
// such option.
std::string remedy_text(std::string_view setting, const Arguments& arguments);
// The error's line with the option that is at fault and the one that lifts it.
std::string line_of(const Error& error, const Arguments& arguments);

}  // namespace assay::cli
