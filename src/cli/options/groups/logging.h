#pragma once

#include "base/log.h"
#include "cli/options/arguments.h"
#include "cli/options/spec.h"

namespace assay::cli {

// Options for messages; the first group of every command that works on files.
OptionGroup logging_group();

// True if the environment allows colours: NO_COLOR is unset or empty.
bool colors_allowed();

// Applies the options of logging_group(); the log uses colours on terminals only. An unknown level is an Error
// (usage).
LogOptions log_options(const Arguments& arguments);

}  // namespace assay::cli
