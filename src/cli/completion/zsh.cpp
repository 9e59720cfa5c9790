#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/command_list.h"
#include "cli/completion/completion.h"
#include "cli/help/help.h"

namespace assay::cli {
namespace {

// Text inside a single-quoted specification: quotes, brackets and colons have a meaning there.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

// `:label:action`, what completes a value.
std::string value_spec(const OptionRow& row) {
  const std::string action = row.choices.empty() ? "_files" : fmt::format("({})", fmt::join(row.choices, " "));
  return fmt::format(":{}:{}", escaped(value_label(row)), action);
}

std::string option_specs(const OptionRow& row) {
  std::string text;
  for (const std::string_view name : row.names) {
    const bool takes_equals = row.arity != Arity::flag && name.starts_with("--");
    text += fmt::format(" \\\n            '*{}{}[{}]", name, takes_equals ? "=" : "", escaped(row.help));
    const bool is_list = most_values(row.arity) > 1;
    if (is_list)
      text += ":*-*" + value_spec(row);
    else if (row.arity != Arity::flag)
      text += (row.arity == Arity::optional ? ":" : "") + value_spec(row);
    text += '\'';
  }
  return text;
}

std::string command_case(const Command& command) {
  const auto depth = std::ranges::count(command.path, ' ') + 1;  // so many words become one, as _arguments expects
  std::string text = fmt::format(
      "    '{0} '*)\n      shift {1} words\n      (( CURRENT -= {1} ))\n      _arguments -s -S", command.path, depth);
  for (const OptionRow* row : all_options(command)) {
    if (!row->hidden) text += option_specs(*row);
  }
  for (const OptionRow& row : command.positionals) {
    const std::string_view many = most_values(row.arity) > 1 ? "*" : least_values(row.arity) == 0 ? ":" : "";
    text += fmt::format(" \\\n            '{}{}'", many, value_spec(row));
  }
  return text + " ;;\n";
}

// `word:summary` of what may follow `verb`.
std::string words_after(std::string_view verb) {
  std::vector<std::string> entries;
  for (const Command& command : all_commands()) {
    const size_t blank = command.path.find(' ');
    const std::string_view first = command.path.substr(0, blank);
    const bool is_group = blank != std::string_view::npos;
    if (!verb.empty() && (!is_group || first != verb)) continue;
    const std::string_view word = verb.empty() ? first : command.path.substr(blank + 1);
    const std::string_view summary = verb.empty() && is_group ? verb_summary(first) : command.summary;
    const std::string entry = fmt::format("'{}:{}'", word, escaped(summary));
    if (entries.empty() || entries.back() != entry) entries.push_back(entry);
  }
  return join(entries, " ");
}

}  // namespace

std::string zsh_completion() {
  std::string cases, verbs;
  std::string_view last;
  const std::vector<Command> commands = all_commands();
  for (const Command& command : commands) {
    cases.insert(0, command_case(command));  // `sweep report` before `sweep`
    const std::string_view verb = command.path.substr(0, command.path.find(' '));
    if (verb == command.path || verb == last) continue;
    verbs += fmt::format("    '{} ') entries=({}) ;;\n", verb, words_after(verb));
    last = verb;
  }
  return fmt::format(R"(#compdef assay
# zsh completion of assay, made by `assay completion zsh`
_assay() {{
  local -a entries
  local typed="${{(j: :)words[2,CURRENT-1]}} "
  case $typed in
    ' ') entries=({0}) ;;
{1}  esac
  if (( $#entries )); then
    _describe command entries
    return
  fi
  case $typed in
{2}  esac
}}
if [[ $funcstack[1] == _assay ]]; then
  _assay "$@"
else
  compdef _assay assay
fi
)",
                     words_after(""), verbs, cases);
}

}  // namespace assay::cli
