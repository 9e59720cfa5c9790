#pragma once

#include <array>
#include <string>
#include <string_view>

namespace assay::cli {

// The whole manual, made from the table of commands: docs/cli.md, and the troff source of assay(1).
std::string markdown_manual();
std::string man_page();

struct ExitStatusRow {
  std::string_view status, meaning;
};
inline constexpr std::array kExitStatusRows = {
    ExitStatusRow{"0", "equal, clean, done"},
    ExitStatusRow{"1", "different, findings"},
    ExitStatusRow{"2", "wrong usage, unreadable or invalid input, disk errors"},
    ExitStatusRow{"3", "could not be decided or done: a backend is missing, refuses or fails, or a limit was reached"},
    ExitStatusRow{"70", "a bug of assay"},
    ExitStatusRow{"130, 143", "ended by SIGINT, SIGTERM"},
};

// The rules by which command lines are read, as paragraphs.
inline constexpr std::array<std::string_view, 3> kCommandLineRules = {
    "Values follow an option after a blank or an equals sign: --opt value, --opt=value, -o value, -ovalue. Short flags "
    "may be bundled, as in -vvv. A long name may be shortened while it is unique. An option that takes a list takes "
    "all words up to the next option; write positionals before such an option, or after --, which ends options.",
    "An option given again replaces what was given before, unless its text says otherwise. Negative numbers are "
    "values.",
    "Results go to standard output; warnings, verbose and error messages to standard error. Every word is checked "
    "before "
    "any work starts; a wrong one ends the program with status 2.",
};

}  // namespace assay::cli
