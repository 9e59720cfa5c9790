#include <charconv>

#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/log_observer.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/compare.h"
#include "cli/options/groups/data.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/parser.h"
#include "cli/sweep/plan_file.h"
#include "cli/sweep/reports.h"
#include "cli/sweep/request.h"
#include "report/sweep/text_sweep.h"

namespace assay::cli {

Command command_sweep();

namespace {

int run_request(const tasks::SweepRequest& request, const Arguments& arguments, Environment& environment) {
  Log& log = environment.log;
  const std::string command = printable(environment.command_line);
  log.start(fmt::format("RUNNING | Command: {}", command));
  if (!request.part.source.empty())
    log.info(fmt::format("Share {} of {}, as {} says", request.part.index, request.part.count, request.part.source));
  LogObserver observer(arguments, environment);
  const Stopwatch total;
  results::SweepReport report = tasks::sweep(request, observer);
  add_commands(report);
  print_sweep(report, log);
  write_sweep_reports(report, arguments, environment);
  const int status = sweep_status(report, request.part.count > 1);
  log.verdict(status == kExitEqual,
              fmt::format("{} | Runtime: {:.3f}s | Command: {}", sweep_word(status), total.seconds(), command));
  return status;
}

int run_sweep(const Arguments& given, Environment& environment) {
  const Command command = command_sweep();
  std::vector<std::string> words = words_with_plan(command, given);
  const Arguments arguments = parse_options(command, words);
  const tasks::SweepRequest request = sweep_request(arguments, std::move(words));
  if (!given.has("--serve-units")) return run_request(request, arguments, environment);
  const std::string text = given.value("--serve-units");
  int socket = -1;
  std::from_chars(text.data(), text.data() + text.size(), socket);
  return tasks::serve_sweep(request, socket);
}

std::vector<OptionGroup> groups() {
  std::vector<OptionGroup> all = {logging_group()};
  for (OptionGroup& group : sweep_groups()) all.push_back(std::move(group));
  OptionGroup python = backend_group();
  std::erase_if(python.rows, [](const OptionRow& row) { return canonical_name(row) != "--python"; });
  python.title = "Python";
  python.description = "For loaders, metrics, libraries and Ray";
  all.push_back(std::move(python));
  for (OptionGroup& group : backend_settings_groups()) all.push_back(std::move(group));
  for (OptionGroup& group : std::vector{data_group(), comparator_group(), functions_group(), limits_group(),
                                        json_group(), sweep_report_group()})
    all.push_back(std::move(group));
  return all;
}

}  // namespace

Command command_sweep() {
  return {
      .path = "sweep",
      .summary = "run many models on several backends over a data set",
      .description =
          "Runs each model, and variants of it, on each backend over shards of a data set, compares all outputs with "
          "those of the first backend, computes metrics, and keeps each result in a folder. The same command goes on "
          "where it was ended, and runs again only what has changed: the bytes of a model or of data, options, "
          "versions. A plan is a YAML file of the options below without dashes. `assay sweep status`, `report`, "
          "`merge` and `retry` are about such a folder. Exit status: 0 everything is the same, 1 something differs, "
          "2 wrong usage or input, 3 something could not be decided.",
      .positionals = {{.names = {"plan"},
                       .arity = Arity::optional,
                       .metavar = "PLAN.yaml",
                       .help = "a file with words for the options",
                       .is_file = true}},
      .groups = groups(),
      .run = run_sweep,
      .examples = {
          "assay sweep --models 'zoo/**/*.onnx' --run onnxrt engine -o results",
          "assay sweep --models net.onnx --run onnxrt --vary fp16,int8 --data loader.py --metric top1 -o results",
          "assay sweep plan.yaml --shard 0/4 -o results", "assay sweep report results --report page.html"}};
}

}  // namespace assay::cli
