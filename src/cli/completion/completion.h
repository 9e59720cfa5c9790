#pragma once

#include <string>

#include "cli/options/spec.h"

namespace assay::cli {

// Completion scripts of the shells, made from the table of commands.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace assay::cli
