#include "base/error.h"
#include "cli/environment.h"
#include "cli/help/manual.h"
#include "cli/options/arguments.h"

namespace assay::cli {
namespace {

int run_docs_man(const Arguments&, Environment& environment) {
  const std::string text = man_page();
  std::fwrite(text.data(), 1, text.size(), environment.out);
  return kExitEqual;
}

}  // namespace

Command command_docs_man() {
  return {.path = "docs man", .summary = "print the manual page assay(1)", .run = run_docs_man, .hidden = true};
}

}  // namespace assay::cli
