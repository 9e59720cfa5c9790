#include "cli/options/spec.h"

namespace assay::cli {

Command command_inspect_diff_tactics();

// Under the verb where some look for it.
Command command_debug_diff_tactics() {
  Command command = command_inspect_diff_tactics();
  command.path = "debug diff-tactics";
  command.hidden = true;
  return command;
}

}  // namespace assay::cli
