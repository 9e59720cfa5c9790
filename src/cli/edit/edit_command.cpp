#include "cli/edit/edit_command.h"

#include <fmt/format.h>

#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/log_observer.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/model_output.h"
#include "cli/options/groups/onnx_save.h"
#include "report/json_reports.h"

namespace assay::cli {

tasks::EditRequest edit_request(const Arguments& arguments, std::string_view suffix) {
  tasks::EditRequest request;
  request.model = model_source(arguments.value("model_file"), arguments);
  request.output = model_output_path(arguments, request.model.path, suffix);
  request.save = save_options(arguments, request.output);
  return request;
}

int run_edit(const Arguments& arguments, Environment& environment,
             const std::function<tasks::EditOutcome(tasks::Observer&)>& task) {
  const Stopwatch total;
  Log& log = environment.log;
  const std::string command = printable(environment.command_line);
  log.start(fmt::format("RUNNING | Command: {}", command));
  LogObserver observer(arguments, environment);
  const tasks::EditOutcome outcome = task(observer);
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(outcome.report));
  log.finish(fmt::format("PASSED | Runtime: {:.3f}s | Command: {}", total.seconds(), command));
  return kExitEqual;
}

std::vector<OptionGroup> edit_groups(std::vector<OptionGroup> own) {
  std::vector<OptionGroup> groups = {logging_group(), model_group(), onnx_load_group()};
  for (OptionGroup& group : own) groups.push_back(std::move(group));
  groups.push_back(model_output_group());
  groups.push_back(onnx_save_group());
  groups.push_back(json_group());
  return groups;
}

}  // namespace assay::cli
