#include <fmt/format.h>

#include "base/text.h"
#include "cli/command_list.h"
#include "cli/help/help.h"
#include "cli/help/manual.h"

namespace assay::cli {
namespace {

// Text for troff: backslashes and hyphens escaped, and no line that starts with a control character.
std::string escaped(std::string_view text) {
  std::string result;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
    line_start = c == '\n';
  }
  return result;
}

std::string paragraph(std::string_view text) { return fmt::format(".PP\n{}\n", escaped(text)); }

std::string tagged(std::string_view tag, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", escaped(tag), escaped(text));
}

std::string rows_text(const std::vector<OptionRow>& rows) {
  std::string text;
  for (const OptionRow& row : rows) {
    if (!row.hidden) text += tagged(row_label(row), row_text(row));
  }
  return text;
}

std::string description_text(const Command& command) {
  std::string text;
  for (const std::string_view line : split(command.description.empty() ? command.summary : command.description, '\n')) {
    if (!line.empty()) text += paragraph(line);
  }
  return text;
}

std::string command_section(const Command& command) {
  std::string text = fmt::format(".SS {}\n", escaped(usage_line(command)));
  text += description_text(command) + rows_text(command.positionals);
  for (const OptionGroup& group : command.groups) {
    text += paragraph(fmt::format("{}:", group.title)) + rows_text(group.rows);
  }
  if (!command.examples.empty()) text += paragraph("Examples:");
  for (const std::string_view example : command.examples) text += paragraph(example);
  return text;
}

}  // namespace

std::string man_page() {
  std::string rules, commands, statuses;
  for (const std::string_view rule : kCommandLineRules) rules += paragraph(rule);
  for (const Command& command : all_commands()) commands += command_section(command);
  for (const ExitStatusRow& row : kExitStatusRows) statuses += tagged(row.status, row.meaning);
  return fmt::format(
      ".TH ASSAY 1 \"\" \"assay {}\" \"User Commands\"\n"
      ".SH NAME\nassay \\- run, compare, convert, inspect, edit and debug ONNX models\n"
      ".SH SYNOPSIS\n.B assay\n.I command\n[options]\n"
      ".SH DESCRIPTION\n{}.SH COMMANDS\n{}.SH EXIT STATUS\n{}"
      ".SH ENVIRONMENT\n{}",
      ASSAY_VERSION, rules, commands, statuses, tagged("NO_COLOR", "if set and not empty, no colours are used"));
}

}  // namespace assay::cli
