#include "base/error.h"
#include "cli/environment.h"
#include "cli/help/manual.h"
#include "cli/options/arguments.h"

namespace assay::cli {
namespace {

int run(const Arguments&, Environment& environment) {
  const std::string text = markdown_manual();
  std::fwrite(text.data(), 1, text.size(), environment.out);
  return kExitEqual;
}

}  // namespace

Command command_docs_cli() { return {.path = "docs cli", .summary = "print docs/cli.md", .run = run, .hidden = true}; }

}  // namespace assay::cli
