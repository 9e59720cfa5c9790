#pragma once

#include <span>
#include <string>

#include "cli/options/arguments.h"

namespace assay::cli {

// Parses the words after the command's name by the rules of Python's argparse, which users' scripts rely on: lists take
// all words up to the next option, positionals are filled around options, names may be abbreviated while unique, `--`
// ends options. Every word is checked; no side effects. A wrong word is an Error (usage); a missing word is one only
// without `--help`.
Arguments parse_options(const Command& command, std::span<const std::string> words);

}  // namespace assay::cli
