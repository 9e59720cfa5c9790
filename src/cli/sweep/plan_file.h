#pragma once

#include <string>
#include <vector>

#include "cli/options/arguments.h"

namespace assay::cli {

// The words of a command with those of a plan file before them: `models: [a, b]` is `--models a b`. What is given on
// the command line takes the place of what the plan says. Error (usage) for a word in the plan that is no option.
std::vector<std::string> words_with_plan(const Command& command, const Arguments& arguments);

}  // namespace assay::cli
