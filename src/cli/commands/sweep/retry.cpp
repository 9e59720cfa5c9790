#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/program.h"
#include "cli/sweep/reports.h"
#include "results/sweep.h"
#include "tasks/sweep.h"

namespace assay::cli {

Command command_sweep();

namespace {

int run_sweep_retry(const Arguments& arguments, Environment& environment) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(arguments.value("folder"), error);
  tasks::Forgotten forgotten = tasks::forget_results(folder, arguments.values("--class"));
  environment.log.info(fmt::format("{} unit(s) are run again", forgotten.count));
  std::filesystem::current_path(forgotten.folder, error);
  if (error)
    fail(ErrorCode::io, "the folder `{}`, from which the sweep was started: {}", printable(forgotten.folder),
         error.message());
  forgotten.words.insert(forgotten.words.end(), {"--output", folder.string()});
  return run_command(command_sweep(), forgotten.words, environment);
}

}  // namespace

Command command_sweep_retry() {
  OptionGroup which{.title = "Units",
                    .description = "Which units are run again",
                    .rows = {{.names = {"--class"},
                              .arity = Arity::one_or_more,
                              .metavar = "STATUS",
                              .choices = {results::kUnitStatuses.begin(), results::kUnitStatuses.end()},
                              .default_value = "died",
                              .help = "units that ended so"}}};
  return {.path = "sweep retry",
          .summary = "run units again that ended in some way",
          .description =
              "Forgets the results of units that ended in some way, and gives the command of the sweep again. "
              "Exit status: as of `sweep`.",
          .positionals = {sweep_folder_row()},
          .groups = {logging_group(), std::move(which)},
          .run = run_sweep_retry,
          .examples = {"assay sweep retry results --class died timeout"}};
}

}  // namespace assay::cli
