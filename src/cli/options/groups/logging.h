#pragma once

#include "base/log.h"
#include "cli/options/arguments.h"
#include "cli/options/spec.h"

namespace assay::cli {

// Options about what is printed for people and how; every command that works on files has them first.
OptionGroup logging_group();

// Whether the environment allows colours: NO_COLOR is unset or empty.
bool colors_allowed();

// What the options of logging_group() say; the log uses colours on terminals only. An unknown level is an Error
// (usage).
LogOptions log_options(const Arguments& arguments);

}  // namespace assay::cli
