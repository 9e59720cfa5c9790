#include "base/error.h"
#include "cli/data_commands.h"
#include "cli/log_observer.h"

namespace assay::cli {
namespace {

int run_data_concat(const Arguments& arguments, Environment& environment) {
  LogObserver observer(arguments, environment);
  tasks::concat_data(data_request(arguments), observer);
  return kExitEqual;
}

}  // namespace

Command command_data_concat() {
  return {.path = "data concat",
          .summary = "join the iterations of several files",
          .description =
              "Reads files that hold all inputs or all outputs and writes one file with their iterations, in the order "
              "of the files. Outputs are joined by the runner's name.",
          .positionals = {data_files_positional()},
          .groups = {logging_group(), data_output_group(), data_change_group(), data_limits_group()},
          .run = run_data_concat,
          .examples = {"assay data concat a.json b.json -o all.json"}};
}

}  // namespace assay::cli
