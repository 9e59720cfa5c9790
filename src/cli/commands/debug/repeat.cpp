#include "base/error.h"
#include "cli/debug/debug_command.h"
#include "cli/debug/same_command.h"
#include "cli/options/groups/check.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"

namespace assay::cli {
namespace {

int run_debug_repeat(const Arguments& arguments, Environment& environment) {
  if (arguments.flag("--same")) {
    const tasks::Until until = parse_until(arguments);
    if (until.kind != tasks::UntilKind::count) fail(ErrorCode::usage, "--same needs a number of runs: --until N");
    return run_same(arguments, environment, until.count);
  }
  if (arguments.has("model_file")) fail(ErrorCode::usage, "a model is run with --same only");
  if (arguments.has("--isolate")) fail(ErrorCode::usage, "--isolate needs --same");
  const tasks::RepeatRequest request{check_request(arguments, environment), parse_until(arguments)};
  return run_loop(arguments, environment,
                  [&](tasks::Observer& observer) { return tasks::debug_repeat(request, observer); });
}

std::vector<OptionGroup> groups() {
  std::vector<OptionGroup> all = {logging_group(), json_group()};
  for (OptionGroup& group : same_groups()) all.push_back(std::move(group));
  for (OptionGroup& group : check_groups({.replays = true, .has_until = true})) all.push_back(std::move(group));
  return all;
}

}  // namespace

Command command_debug_repeat() {
  return {.path = "debug repeat",
          .summary = "run a check again and again, and sort what it leaves by its verdict",
          .description =
              "For what fails now and then: the check runs until it passes, until it fails, or so many "
              "times, and the files that it leaves are sorted into good/ and bad/. Exit status: 0 the loop "
              "ended as told, whatever the iterations did, 1 with --same bits differ, 2 wrong usage or input, 3 a "
              "check cannot be run.",
          .positionals = {optional_model_positional()},
          .groups = groups(),
          .run = run_debug_repeat,
          .examples = {"assay debug repeat --until 20 --artifacts out.json --check assay run model.onnx --onnxrt "
                       "--save-outputs out.json --load-outputs golden.json"},
          .exact_names = true};
}

}  // namespace assay::cli
