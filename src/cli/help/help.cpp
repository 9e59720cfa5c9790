#include "cli/help/help.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/ioctl.h>

#include "base/text.h"
#include "cli/command_list.h"
#include "cli/help/wrap.h"

namespace assay::cli {
namespace {

constexpr size_t kColumn = 26;  // column of the explanations

// A label, and its explanation beside it, or below it if the label is long.
std::string entry(std::string_view label, std::string_view text, size_t width) {
  std::string line = fmt::format("  {}", label);
  if (text.empty()) return line + '\n';
  if (line.size() + 2 > kColumn)
    line += '\n' + std::string(kColumn, ' ');
  else
    line.append(kColumn - line.size(), ' ');
  return line + wrap(text, kColumn, width) + '\n';
}

std::string rows_help(const std::vector<OptionRow>& rows, size_t width) {
  std::string text;
  for (const OptionRow& row : rows) {
    if (!row.hidden) text += entry(row_label(row), row_text(row), width);
  }
  return text;
}

std::string group_help(const OptionGroup& group, size_t width) {
  const std::string rows = rows_help(group.rows, width);
  if (rows.empty()) return "";
  std::string text = fmt::format("\n{}:\n", group.title);
  if (!group.description.empty()) text += fmt::format("  {}\n\n", wrap(group.description, 2, width));
  return text + rows;
}

// The words that show how often a positional is to be given.
std::string positional_usage(const OptionRow& row) {
  const std::string label = value_label(row);
  switch (row.arity) {
    case Arity::optional:
      return fmt::format("[{}]", label);
    case Arity::one_or_more:
      return label + "...";
    case Arity::any:
      return fmt::format("[{}...]", label);
    default:
      return label;
  }
}

}  // namespace

std::string row_label(const OptionRow& row) {
  const std::string value = value_label(row);
  if (!row.names.front().starts_with('-')) return value;
  std::string label = fmt::format("{}", fmt::join(row.names, ", "));
  switch (row.arity) {
    case Arity::flag:
      return label;
    case Arity::one:
      return label.ends_with('@') ? label + value : fmt::format("{} {}", label, value);
    case Arity::optional:
      return fmt::format("{} [{}]", label, value);
    case Arity::one_or_more:
      return fmt::format("{} {}...", label, value);
    case Arity::any:
      return fmt::format("{} [{}...]", label, value);
    case Arity::rest:
      return fmt::format("{} {}", label, value);
  }
  return label;
}

std::string row_text(const OptionRow& row) {
  std::string text(row.help);
  if (!row.choices.empty() && !row.metavar.empty()) {
    text += fmt::format(" (one of {})", fmt::join(row.choices, ", "));
  }
  if (!row.default_value.empty()) text += fmt::format(" (default: {})", row.default_value);
  if (row.required) text += " (required)";
  if (row.repeat == Repeat::append) text += " (may be given more than once)";
  if (!row.details.empty()) text += fmt::format(". {}", row.details);
  return text;
}

std::string usage_line(const Command& command) {
  std::string line = fmt::format("assay {} [options]", command.path);
  for (const OptionRow* row : all_options(command)) {
    if (row->required) line += fmt::format(" {} {}", canonical_name(*row), value_label(*row));
  }
  for (const OptionRow& row : command.positionals) line += ' ' + positional_usage(row);
  return line;
}

std::string help_page(const Command& command, size_t width) {
  std::string text = fmt::format("usage: {}\n\n{}\n", wrap(usage_line(command), 7, width),
                                 wrap(command.description.empty() ? command.summary : command.description, 0, width));
  const std::string positionals = rows_help(command.positionals, width);
  if (!positionals.empty()) text += "\nPositional:\n" + positionals;
  for (const OptionGroup& group : command.groups) text += group_help(group, width);
  text += "\nHelp:\n" + rows_help({help_row()}, width);
  if (!command.examples.empty()) text += fmt::format("\nExamples:\n  {}\n", fmt::join(command.examples, "\n  "));
  return text;
}

std::string help_list(std::string_view verb, size_t width) {
  const std::string prefix = verb.empty() ? "" : fmt::format("{} ", verb);
  const std::string_view summary =
      verb.empty() ? "run, compare, convert, inspect, edit and debug ONNX models" : verb_summary(verb);
  std::string text = fmt::format("usage: assay {}COMMAND [options]\n\n{}\n\nCommands:\n", prefix, summary);
  std::string_view last_verb;
  const std::vector<Command> commands = all_commands(!verb.empty());
  for (const Command& command : commands) {
    const std::string_view first = command.path.substr(0, command.path.find(' '));
    if (!command.path.starts_with(prefix)) continue;
    const bool is_group = verb.empty() && first != command.path;
    if (is_group && first == last_verb) continue;
    last_verb = first;
    text += entry(is_group ? first : command.path.substr(prefix.size()),
                  is_group ? verb_summary(first) : command.summary, width);
  }
  return text + fmt::format("\n`assay help {}COMMAND` explains a command.\n", prefix);
}

size_t terminal_width(std::FILE* stream) {
  winsize size = {};
  const int fd = fileno(stream);
  if (fd < 0 || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 100;
  return std::clamp<size_t>(size.ws_col, 50, 120);
}

}  // namespace assay::cli
