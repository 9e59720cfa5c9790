#include <filesystem>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "report/inspect/tactics.h"
#include "report/json_reports.h"
#include "tasks/inspect.h"

namespace assay::cli {
namespace {

// The path of a file or folder, which must exist; a folder `good` or `bad` may be missing.
std::string place(const Arguments& arguments, const std::string& name) {
  const std::string option = "--" + name, word = name + "_replay";
  if (arguments.has(option) && arguments.has(word)) fail(ErrorCode::usage, "{} is named twice", option);
  for (const std::string& named : {option, word}) {
    if (!arguments.has(named)) continue;
    const std::string path = arguments.value(named);
    if (!is_there(path)) fail(ErrorCode::usage, "{}: there is no file or folder `{}`", named, printable(path));
    return path;
  }
  return (std::filesystem::path(arguments.value("--dir")) / name).string();
}

int run_inspect_diff_tactics(const Arguments& arguments, Environment& environment) {
  const std::string folder = arguments.value("--dir");
  if (!folder.empty() && !is_there(folder)) fail(ErrorCode::usage, "--dir: there is no folder `{}`", printable(folder));
  if (arguments.has("good_replay") != arguments.has("bad_replay")) {
    fail(ErrorCode::usage, "expected two files, of an engine that works and of one that fails");
  }
  const results::TacticDiff diff = tasks::diff_tactics({place(arguments, "good"), place(arguments, "bad")});
  Log& log = environment.log;
  if (!json_on_stdout(arguments)) {
    for (const std::string& path : diff.skipped) {
      log.verbose(printable(path) + " does not look like a tactic replay file, skipping.");
    }
    log.info(fmt::format("Loaded {} good tactic replays.", diff.good.size()));
    log.info(fmt::format("Loaded {} bad tactic replays.", diff.bad.size()));
    for (const std::string& line : report::tactic_diff_lines(diff)) log.result(line);
  }
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(diff));
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
          .positionals = {{.names = {"good_replay"},
                           .arity = Arity::optional,
                           .help = "the same as --good, with --bad behind it",
                           .is_file = true},
                          {.names = {"bad_replay"}, .arity = Arity::optional, .help = "as --bad", .is_file = true}},
          .groups = {logging_group(), replay_group(), json_group()},
          .run = run_inspect_diff_tactics,
          .examples = {"assay inspect diff-tactics --dir replays", "assay inspect diff-tactics good.json bad.json"}};
}

}  // namespace assay::cli
