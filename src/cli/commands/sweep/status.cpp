#include "base/error.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/sweep/reports.h"
#include "report/json_reports.h"
#include "report/sweep/text_sweep.h"
#include "tasks/sweep.h"

namespace assay::cli {
namespace {

int run_sweep_status(const Arguments& arguments, Environment& environment) {
  const results::SweepStatus status = tasks::status_of_sweep(arguments.value("folder"));
  for (const std::string& line : report::sweep_status_lines(status)) environment.log.result(line);
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(status));
  return kExitEqual;
}

}  // namespace

Command command_sweep_status() {
  return {.path = "sweep status",
          .summary = "tell how far a sweep is",
          .description =
              "Tells how many units of a sweep are done, with what result, whether a sweep is at work in the "
              "folder, and how much work is left. Exit status: 0 told, 2 no folder of a sweep, 3 one of "
              "another version.",
          .positionals = {sweep_folder_row()},
          .groups = {logging_group(), json_group()},
          .run = run_sweep_status,
          .examples = {"assay sweep status results"}};
}

}  // namespace assay::cli
