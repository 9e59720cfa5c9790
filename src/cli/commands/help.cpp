#include "cli/help/help.h"

#include "base/error.h"
#include "cli/command_list.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"

namespace assay::cli {
namespace {

int run_help(const Arguments& arguments, Environment& environment) {
  const std::vector<std::string> words = arguments.values("command");
  const size_t width = terminal_width(environment.out);
  std::string text;
  if (words.empty())
    text = help_list("", width);
  else if (words.size() == 1 && has_subcommands(words[0]))
    text = help_list(words[0], width);
  else
    text = help_page(find_command(words).command, width);
  std::fwrite(text.data(), 1, text.size(), environment.out);
  return kExitEqual;
}

}  // namespace

Command command_help() {
  return {.path = "help",
          .summary = "explain a command",
          .positionals = {{.names = {"command"}, .arity = Arity::any, .help = "the name of the command"}},
          .run = run_help,
          .examples = {"assay help inspect model"}};
}

}  // namespace assay::cli
