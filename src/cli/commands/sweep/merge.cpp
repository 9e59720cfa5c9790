#include "base/error.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/sweep/reports.h"
#include "tasks/sweep.h"

namespace assay::cli {
namespace {

int run_sweep_merge(const Arguments& arguments, Environment& environment) {
  const std::vector<std::string> folders = arguments.values("folders");
  if (folders.size() > 1 && !arguments.has("--output"))
    fail(ErrorCode::usage, "name the folder of the result: -o FOLDER");
  const std::string target = arguments.has("--output") ? arguments.value("--output") : folders[0];
  results::SweepReport report = tasks::merge_sweeps(folders, target);
  add_commands(report);
  print_sweep(report, environment.log);
  write_sweep_reports(report, arguments, environment);
  return sweep_status(report);
}

}  // namespace

Command command_sweep_merge() {
  OptionGroup target{.title = "Output",
                     .description = "Where the result goes",
                     .rows = {{.names = {"-o", "--output"},
                               .metavar = "FOLDER",
                               .help = "the folder of the result; default: the folder, if there is one"}}};
  return {.path = "sweep merge",
          .summary = "put the results of several sweeps, or of the shares of one, into one folder",
          .description =
              "Puts the journals of sweeps with the same sides, options and data into one file of one folder, "
              "in the order of the plan. Of several results of a unit the first one counts. Exit status: as "
              "of `sweep report`.",
          .positionals = {{.names = {"folders"},
                           .arity = Arity::one_or_more,
                           .metavar = "FOLDER",
                           .help = "folders of sweeps",
                           .is_file = true}},
          .groups = {logging_group(), std::move(target), json_group(), sweep_report_group()},
          .run = run_sweep_merge,
          .examples = {"assay sweep merge part0 part1 part2 -o results", "assay sweep merge results"}};
}

}  // namespace assay::cli
