#include "base/error.h"
#include "cli/environment.h"
#include "cli/help/manual.h"
#include "cli/options/arguments.h"

namespace assay::cli {
namespace {

int run_docs_cli(const Arguments&, Environment& environment) {
  const std::string text = markdown_manual();
  std::fwrite(text.data(), 1, text.size(), environment.out);
  return kExitEqual;
}

}  // namespace

Command command_docs_cli() {
  return {.path = "docs cli", .summary = "print docs/cli.md", .run = run_docs_cli, .hidden = true};
}

}  // namespace assay::cli
