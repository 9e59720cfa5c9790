#include "cli/completion/completion.h"

#include "base/error.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"

namespace assay::cli {
namespace {

int run_completion(const Arguments& arguments, Environment& environment) {
  const std::string shell = arguments.value("shell");
  const std::string script = shell == "bash"  ? bash_completion()
                             : shell == "zsh" ? zsh_completion()
                                              : fish_completion();
  std::fwrite(script.data(), 1, script.size(), environment.out);
  return kExitEqual;
}

}  // namespace

Command command_completion() {
  return {.path = "completion",
          .summary = "print a completion script for a shell",
          .description =
              "Prints a script that completes commands, options, their choices and file names. For one "
              "session: source <(assay completion bash). For all: write it to where the shell looks for "
              "completions, as ~/.local/share/bash-completion/completions/assay, a file _assay in zsh's "
              "fpath, or ~/.config/fish/completions/assay.fish.",
          .positionals =
              {{.names = {"shell"}, .metavar = "SHELL", .choices = {"bash", "zsh", "fish"}, .help = "the shell"}},
          .run = run_completion,
          .examples = {"source <(assay completion bash)"}};
}

}  // namespace assay::cli
