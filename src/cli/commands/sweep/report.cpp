#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/sweep/reports.h"
#include "tasks/sweep.h"

namespace assay::cli {
namespace {

bool is_worse(const results::SweepReport& report) {
  for (const results::SweepChange& change : report.changes) {
    if (change.is_worse) return true;
  }
  return false;
}

int run_sweep_report(const Arguments& arguments, Environment& environment) {
  results::SweepReport report = tasks::report_sweep(arguments.value("folder"), arguments.value("--against"));
  add_commands(report);
  print_sweep(report, environment.log);
  write_sweep_reports(report, arguments, environment);
  return arguments.has("--against") && is_worse(report) ? kExitDifferent : sweep_status(report);
}

}  // namespace

Command command_sweep_report() {
  OptionGroup against{.title = "Older Sweep",
                      .description = "What has changed since",
                      .rows = {{.names = {"--against"},
                                .metavar = "OLD",
                                .help = "the folder of an older sweep, or its JSON report: tells rows whose status or "
                                        "metrics are others",
                                .is_file = true}}};
  return {.path = "sweep report",
          .summary = "tell what a sweep has found",
          .description =
              "Reports on all units that a sweep has done: models by variants and sides, metrics with their "
              "intervals, causes of failures, and worst samples with the commands that repeat them. Exit "
              "status: 0 everything is the same, 1 something differs or is worse than in the older sweep, 2 no "
              "folder of a sweep, 3 something is not decided.",
          .positionals = {sweep_folder_row()},
          .groups = {logging_group(), std::move(against), json_group(), sweep_report_group()},
          .run = run_sweep_report,
          .examples = {"assay sweep report results --report page.html --junit verdicts.xml",
                       "assay sweep report new --against old --json -"}};
}

}  // namespace assay::cli
