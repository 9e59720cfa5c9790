#include <filesystem>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "report/inspect/tactics.h"
#include "tasks/inspect.h"

namespace assay::cli {
namespace {

// What is named must be there; a folder `good` or `bad` may be missing.
std::string place(const Arguments& arguments, std::string_view option, std::string_view name) {
  if (arguments.has(option)) {
    if (!is_there(arguments.value(option))) {
      fail(ErrorCode::usage, "{}: there is no file or folder `{}`", option, printable(arguments.value(option)));
    }
    return arguments.value(option);
  }
  return (std::filesystem::path(arguments.value("--dir")) / name).string();
}

int run(const Arguments& arguments, Environment& environment) {
  const std::string folder = arguments.value("--dir");
  if (!folder.empty() && !is_there(folder)) fail(ErrorCode::usage, "--dir: there is no folder `{}`", printable(folder));
  const results::TacticDiff diff =
      tasks::diff_tactics({place(arguments, "--good", "good"), place(arguments, "--bad", "bad")});
  Log& log = environment.log;
  if (!json_on_stdout(arguments)) {
    for (const std::string& path : diff.skipped) {
      log.verbose(printable(path) + " does not look like a tactic replay file, skipping.");
    }
    log.info(fmt::format("Loaded {} good tactic replays.", diff.good.size()));
    log.info(fmt::format("Loaded {} bad tactic replays.", diff.bad.size()));
    for (const std::string& line : report::tactic_diff_lines(diff)) log.info(line);
  }
  if (wants_json(arguments)) write_json(arguments, environment, report::tactic_diff_json(diff));
  return kExitEqual;
}

OptionGroup replay_group() {
  return {
      .title = "Replays",
      .description = "Files of tactics, which are found in folders and below them",
      .rows = {
          {.names = {"--dir"},
           .metavar = "FOLDER",
           .help = "a folder with the folders `good` and `bad`; default: the working directory",
           .is_file = true},
          {.names = {"--good"}, .metavar = "PATH", .help = "a file or folder of engines that work", .is_file = true},
          {.names = {"--bad"}, .metavar = "PATH", .help = "a file or folder of engines that fail", .is_file = true}}};
}

}  // namespace

Command command_inspect_diff_tactics() {
  return {.path = "inspect diff-tactics",
          .summary = "show the tactics that only engines have which fail",
          .description =
              "Compares what `--save-tactics` wrote for engines that work with what it wrote for engines that fail, as "
              "`debug build` sorts them. Tactics of a layer that no good engine has are suspects.",
          .positionals = {},
          .groups = {logging_group(), replay_group(), json_group()},
          .run = run,
          .examples = {"assay inspect diff-tactics --dir replays"}};
}

}  // namespace assay::cli
