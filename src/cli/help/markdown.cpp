#include <algorithm>

#include <fmt/format.h>

#include "cli/command_list.h"
#include "cli/help/help.h"
#include "cli/help/manual.h"

namespace assay::cli {
namespace {

// Text in a cell of a table, where `|` and `<` have a meaning.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|')
      result += "\\|";
    else if (c == '<')
      result += "&lt;";
    else
      result += c;
  }
  return result;
}

std::string code(std::string_view text) { return fmt::format("`{}`", cell(text)); }

std::string rows_table(const std::vector<OptionRow>& rows, std::string_view what) {
  std::string text;
  for (const OptionRow& row : rows) {
    if (!row.hidden) text += fmt::format("| {} | {} |\n", code(row_label(row)), cell(row_text(row)));
  }
  return text.empty() ? "" : fmt::format("\n| {} | meaning |\n|---|---|\n{}", what, text);
}

std::string spellings_text(const OptionGroup& group) {
  std::string text;
  for (const Spelling& spelling : group.spellings) {
    const std::string old = fmt::format("{}{}{}", spelling.option, spelling.value.empty() ? "" : "=", spelling.value);
    const std::string modern =
        spelling.words.empty() ? std::string(spelling.reason) : fmt::format("`{}`", fmt::join(spelling.words, " "));
    text += fmt::format("\nAlso accepted: `{}` ({}).\n", old, modern);
  }
  return text;
}

std::string command_section(const Command& command) {
  std::string text = fmt::format("\n## assay {}\n\n```\n{}\n```\n\n{}\n", command.path, usage_line(command),
                                 command.description.empty() ? command.summary : command.description);
  if (!command.examples.empty()) text += fmt::format("\n```\n{}\n```\n", fmt::join(command.examples, "\n"));
  text += rows_table(command.positionals, "positional");
  for (const OptionGroup& group : command.groups) {
    text += fmt::format("\n### {}\n", group.title);
    if (!group.description.empty()) text += fmt::format("\n{}.\n", group.description);
    text += rows_table(group.rows, "option") + spellings_text(group);
  }
  return text;
}

std::string link(std::string_view path) {
  std::string anchor = fmt::format("assay-{}", path);
  std::ranges::replace(anchor, ' ', '-');
  return fmt::format("[assay {}](#{})", path, anchor);
}

}  // namespace

std::string markdown_manual() {
  std::string list, sections, rules, statuses;
  for (const std::string_view rule : kCommandLineRules) rules += fmt::format("{}\n\n", rule);
  for (const ExitStatusRow& row : kExitStatusRows) statuses += fmt::format("| {} | {} |\n", row.status, row.meaning);
  for (const Command& command : all_commands()) {
    list += fmt::format("| {} | {} |\n", link(command.path), cell(command.summary));
    sections += command_section(command);
  }
  return fmt::format(
      "# Commands of assay\n\nMade by `assay docs cli` from the table of options; do not edit.\n\n"
      "| command | role |\n|---|---|\n{}\n{}Every command takes `-h` or `--help`.\n\n"
      "| exit status | when |\n|---|---|\n{}{}",
      list, rules, statuses, sections);
}

}  // namespace assay::cli
