#include <fmt/format.h>

#include "cli/command_list.h"
#include "cli/completion/completion.h"

namespace assay::cli {
namespace {

std::string single_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + '\'';
}

// One line completes one word behind the call that `condition` names.
std::string word_line(std::string_view condition, std::string_view word, std::string_view summary) {
  return fmt::format("complete -c assay -n '__assay_at {}' -f -a {} -d {}\n", condition, single_quoted(word),
                     single_quoted(summary));
}

std::string option_line(const Command& command, const OptionRow& row) {
  std::string line = fmt::format("complete -c assay -n '__assay_in {}'", command.path);
  for (const std::string_view name : row.names) {
    if (name.starts_with("--"))
      line += fmt::format(" -l {}", name.substr(2));
    else
      line += fmt::format(" -{} {}", name.size() == 2 ? 's' : 'o', name.substr(1));
  }
  if (!row.choices.empty())
    line += fmt::format(" -x -a {}", single_quoted(fmt::format("{}", fmt::join(row.choices, " "))));
  else if (row.arity == Arity::one || row.arity == Arity::one_or_more)
    line += " -r";
  return line + fmt::format(" -d {}\n", single_quoted(row.help));
}

std::string command_lines(const Command& command) {
  std::string text;
  for (const OptionRow* row : all_options(command)) {
    if (!row->hidden) text += option_line(command, *row);
  }
  for (const OptionRow& row : command.positionals) {
    for (const std::string_view choice : row.choices) text += word_line(command.path, choice, row.help);
  }
  return text;
}

}  // namespace

std::string fish_completion() {
  std::string text = R"(# fish completion of assay, made by `assay completion fish`
function __assay_at
    set -l words (commandline -opc)
    test "$words[2..-1]" = "$argv"
end
function __assay_in
    set -l words (commandline -opc)
    set -l depth (math (count $argv) + 1)
    test (count $words) -ge $depth; and test "$words[2..$depth]" = "$argv"
end
)";
  std::string_view last;
  const std::vector<Command> commands = all_commands();
  for (const Command& command : commands) {
    const size_t blank = command.path.find(' ');
    const std::string_view verb = command.path.substr(0, blank);
    const bool is_group = blank != std::string_view::npos;
    if (verb != last) text += word_line("", verb, is_group ? verb_summary(verb) : command.summary);
    if (is_group) text += word_line(verb, command.path.substr(blank + 1), command.summary);
    last = verb;
    text += command_lines(command);
  }
  return text;
}

}  // namespace assay::cli
