#include "cli/debug/runtimes.h"

#include "base/error.h"
#include "base/text.h"
#include "cli/debug/comparison_words.h"
#include "cli/log_observer.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/model.h"
#include "report/json_reports.h"
#include "tasks/check.h"
#include "tasks/debug/runtimes.h"

namespace assay::cli {
namespace {

constexpr std::string_view kRuntimes = "--runtimes";

tasks::RuntimeSearchRequest runtimes_request(const Arguments& arguments, Log& log) {
  tasks::RuntimeSearchRequest request;
  request.environments = arguments.values(kRuntimes);
  if (request.environments.size() < 2)
    fail(ErrorCode::usage, "{}: expected two environments or more, from the oldest on", kRuntimes);
  for (const std::string& python : request.environments) {
    if (tasks::find_python(python).empty())
      fail(ErrorCode::usage, "{}: there is no Python `{}`", kRuntimes, printable(python));
  }
  request.model = model_source(arguments.value("model_file"), arguments);
  check_input_data(arguments);
  request.inputs = input_request(arguments);
  request.comparison = comparison_request(arguments, log, "ref");
  const std::string& backend = request.comparison.backend;
  if (backend != "onnxrt" && backend != "openvino")
    fail(ErrorCode::usage, "{} needs --onnxrt or --openvino, whose releases are searched", kRuntimes);
  refuse_check(arguments);
  return request;
}

int finish(const results::RuntimeReport& report, Log& log) {
  for (const results::TriedRuntime& tried : report.tried) {
    log.info(fmt::format("{} | {}{}", printable(tried.environment), tried.is_good ? "good" : "bad",
                         tried.reason.empty() ? "" : ": " + printable(tried.reason)));
  }
  if (report.first_bad.empty()) {
    log.error(report.fails_before ? "the first environment fails already: none of the others is to blame"
                                  : "the last environment does not fail");
    return kExitDifferent;
  }
  log.finish(fmt::format("The first bad environment is {}, behind {}", printable(report.first_bad),
                         printable(report.last_good)));
  return kExitEqual;
}

}  // namespace

OptionRow runtimes_row() {
  return {.names = {kRuntimes},
          .arity = Arity::one_or_more,
          .metavar = "PYTHON",
          .help =
              "instead of steps: environments, by their Python or their folder, from the oldest on; finds the first "
              "whose --onnxrt or --openvino computes something else",
          .is_file = true};
}

int run_runtimes(const Arguments& arguments, Environment& environment) {
  const tasks::RuntimeSearchRequest request = runtimes_request(arguments, environment.log);
  environment.log.start(fmt::format("RUNNING | Command: {}", printable(environment.command_line)));
  LogObserver observer(arguments, environment);
  const results::RuntimeReport report = tasks::debug_runtimes(request, observer);
  const int status = finish(report, environment.log);
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  return status;
}

}  // namespace assay::cli
