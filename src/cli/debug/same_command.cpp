#include "cli/debug/same_command.h"

#include <algorithm>

#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/log_observer.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/ranks.h"
#include "report/json_reports.h"
#include "tasks/same.h"

namespace assay::cli {
namespace {

constexpr size_t kMostListed = 10;

tasks::SameRequest same_request(const Arguments& arguments, uint64_t runs) {
  tasks::SameRequest request;
  request.model = model_source(arguments.value("model_file"), arguments);
  if (request.model.path.empty()) fail(ErrorCode::usage, "--same needs a model");
  const std::vector<std::string> backends = chosen_backends(arguments);
  if (backends.size() != 1) fail(ErrorCode::usage, "--same needs one backend: --onnxrt, --engine, ...");
  if (arguments.has("--check")) fail(ErrorCode::usage, "--same and --check exclude each other");
  if (runs < 2) fail(ErrorCode::usage, "--same needs two runs or more: --until N");
  request.backend = backends[0];
  check_input_data(arguments);
  request.inputs = input_request(arguments);
  request.session = session_options(arguments);
  request.runs = runs;
  request.isolate = arguments.flag("--isolate");
  return request;
}

void print(const results::SameReport& report, Log& log) {
  const std::string what =
      fmt::format("{} values in {} runs and one each with 1, 2 and 3 threads", report.value_count, report.runs);
  if (report.differences.empty()) return log.finish(fmt::format("{}: the same bits for {}", report.backend, what));
  const results::SameDifference& first = report.differences.front();
  log.verdict(false, fmt::format("{}: {} of {} differ; first `{}` ({}), in {}", report.backend,
                                 report.differences.size(), what, printable(first.node), printable(first.op),
                                 first.threads == 0 ? fmt::format("run {}", first.run)
                                                    : fmt::format("the run with {} thread(s)", first.threads)));
  for (size_t i = 0; i < std::min(report.differences.size(), kMostListed); ++i) {
    const results::SameDifference& one = report.differences[i];
    log.info(fmt::format("    {} of {} ({})", printable(one.value), printable(one.node), printable(one.op)));
  }
}

}  // namespace

std::vector<OptionGroup> same_groups() {
  OptionGroup backends = without_python(backend_group());
  backends.description = "With --same: what runs the model";
  std::vector<OptionGroup> all = {{.title = "Same Bits",
                                   .description = "A model in the place of a command",
                                   .rows = {{.names = {"--same"},
                                             .arity = Arity::flag,
                                             .help = "run MODEL on a backend --until N times, and once each with 1, 2 "
                                                     "and 3 threads, and compare all bits"},
                                            {.names = {"--isolate"},
                                             .arity = Arity::flag,
                                             .help = "with --same: run the backend in a process of its own, for one "
                                                     "that crashes"}},
                                   .spellings = {}},
                                  model_group(),
                                  onnx_load_group(),
                                  std::move(backends),
                                  input_data_group({"--input-shapes", "--inputs"}, true)};
  for (OptionGroup& group : backend_settings_groups()) all.push_back(std::move(group));
  all.push_back(ranks_group());
  all.push_back(limits_group());
  return all;
}

int run_same(const Arguments& arguments, Environment& environment, uint64_t runs) {
  const Stopwatch total;
  const tasks::SameRequest request = same_request(arguments, runs);
  const std::string command = printable(environment.command_line);
  environment.log.start(fmt::format("RUNNING | Command: {}", command));
  LogObserver observer(arguments, environment);
  const results::SameReport report = tasks::debug_same(request, observer);
  print(report, environment.log);
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  const bool is_same = report.differences.empty();
  environment.log.verdict(is_same, fmt::format("{} | Runtime: {:.3f}s | Command: {}", is_same ? "PASSED" : "FAILED",
                                               total.seconds(), command));
  return is_same ? kExitEqual : kExitDifferent;
}

}  // namespace assay::cli
