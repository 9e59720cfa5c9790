#include "cli/plugin/match_command.h"

#include "base/error.h"
#include "cli/log_observer.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/plugins.h"
#include "report/json_reports.h"

namespace assay::cli {

int run_match(std::string_view command, const std::string& config, const Arguments& arguments,
              Environment& environment) {
  LogObserver observer(arguments, environment);
  results::PluginReport report = tasks::match_plugins({.model = model_source(arguments.value("model_file"), arguments),
                                                       .plugins = plugin_search(arguments),
                                                       .infers = arguments.flag("--shape-inference"),
                                                       .config = config},
                                                      observer);
  report.command = command;
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  return kExitEqual;
}

}  // namespace assay::cli
