#include <fmt/format.h>

#include "base/text.h"
#include "cli/command_list.h"
#include "cli/completion/completion.h"

namespace assay::cli {
namespace {

// The cursor is behind an option: its choices, or nothing, so that file names are offered.
std::string option_cases(const Command& command) {
  std::string text;
  for (const OptionRow* row : all_options(command)) {
    if (row->hidden || row->choices.empty()) continue;
    text += fmt::format("        {})\n", fmt::join(row->names, "|"));
    const std::string_view near = most_values(row->arity) > 1 ? "" : "(( distance == 1 )) && ";
    text += fmt::format("          {}words=\"{}\" ;;\n", near, fmt::join(row->choices, " "));
  }
  return text;
}

std::string command_case(const Command& command) {
  std::vector<std::string> names;
  for (const OptionRow* row : all_options(command)) {
    if (!row->hidden) names.insert(names.end(), row->names.begin(), row->names.end());
  }
  std::string positional;
  for (const OptionRow& row : command.positionals) positional += fmt::format("{} ", fmt::join(row.choices, " "));
  const std::string cases = option_cases(command);
  std::string text = fmt::format("    \"{} \"*)\n      words=\"{}\"\n", command.path, positional);
  if (!cases.empty()) text += "      case $option in\n" + cases + "      esac\n";
  return text + fmt::format("      [[ $cur == -* ]] && words=\"{}\" ;;\n", join(names, " "));
}

}  // namespace

std::string bash_completion() {
  std::string calls, cases;
  for (const Command& command : all_commands()) {
    cases.insert(0, command_case(command));  // `sweep report` before `sweep`
    calls += fmt::format(" '{}'", command.path);
  }
  return fmt::format(R"(# bash completion of assay, made by `assay completion bash`
_assay() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} option= words= typed= call i
  [[ $cur == = ]] && cur=
  local -i distance=0
  for (( i = COMP_CWORD - 1; i > 0; i-- )); do
    [[ ${{COMP_WORDS[i]}} == = ]] && continue
    distance+=1
    [[ ${{COMP_WORDS[i]}} == -* ]] && option=${{COMP_WORDS[i]}} && break
  done
  for (( i = 1; i < COMP_CWORD; i++ )); do typed+="${{COMP_WORDS[i]}} "; done
  case $typed in
{0}    *)
      for call in{1}; do
        [[ "$call " == "$typed"* ]] && call=${{call#"$typed"}} && words+=" ${{call%% *}}"
      done ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -F _assay assay
)",
                     cases, calls);
}

}  // namespace assay::cli
