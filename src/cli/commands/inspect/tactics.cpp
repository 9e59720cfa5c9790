#include "report/inspect/tactics.h"

#include "base/text.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "report/json_reports.h"
#include "tasks/inspect.h"

namespace assay::cli {
namespace {

int run_inspect_tactics(const Arguments& arguments, Environment& environment) {
  const std::string path = arguments.value("tactic_replay");
  environment.log.info("Loading tactic replay file from " + printable(path));
  const results::RecordedTactics tactics = tasks::inspect_tactics(path);
  if (!json_on_stdout(arguments)) environment.log.result(report::tactics_text(tactics));
  if (wants_json(arguments))
    write_json(arguments, environment, report::report_json(results::TacticListing{path, tactics}));
  return kExitEqual;
}

}  // namespace

Command command_inspect_tactics() {
  return {.path = "inspect tactics",
          .summary = "show the tactic of each layer in a file of tactics",
          .description = "Reads what `--save-tactics` wrote, also such files of TensorRT.",
          .positionals =
              {{.names = {"tactic_replay"}, .metavar = "FILE", .help = "the file", .is_file = true, .required = true}},
          .groups = {logging_group(), json_group()},
          .run = run_inspect_tactics,
          .examples = {"assay inspect tactics replay.json"}};
}

}  // namespace assay::cli
