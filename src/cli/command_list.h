#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/registered.h"
#include "cli/options/spec.h"

namespace assay::cli {

// The commands: one for each file below commands/, in path order (generated). `inspect/diff_tactics` is called
// `inspect diff-tactics`.
std::span<const Registered<Command>> registered_commands();

// The commands; hidden ones only on request.
std::vector<Command> all_commands(bool with_hidden = false);
// A command and the number of words in its name.
struct FoundCommand {
  Command command;
  size_t name_words;
};
// Finds the command that the words name. A missing, unknown or incomplete name is an Error (usage).
FoundCommand find_command(std::span<const std::string> words);
// True if the word is a verb with sub-commands, such as `inspect`, and no command itself, as `sweep` is.
bool has_subcommands(std::string_view verb);
bool has_subcommand(std::string_view verb, std::string_view word);
// The summary of such a verb, in one line.
std::string_view verb_summary(std::string_view verb);

}  // namespace assay::cli
