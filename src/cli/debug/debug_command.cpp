#include "cli/debug/debug_command.h"

#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/debug/writable_outputs.h"
#include "cli/log_observer.h"
#include "cli/options/groups/json.h"
#include "report/debug/text_debug.h"
#include "report/json_reports.h"

namespace assay::cli {

int run_loop(const Arguments& arguments, Environment& environment,
             const std::function<results::DebugReport(tasks::Observer&)>& task) {
  const Stopwatch total;
  Log& log = environment.log;
  const std::string command = printable(environment.command_line);
  require_writable_outputs(arguments);
  log.start(fmt::format("RUNNING | Command: {}", command));
  LogObserver observer(arguments, environment);
  const results::DebugReport report = task(observer);
  log.finish(report::loop_summary(report.loop));
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  log.finish(fmt::format("PASSED | Runtime: {:.3f}s | Command: {}", total.seconds(), command));
  return kExitEqual;
}

}  // namespace assay::cli
