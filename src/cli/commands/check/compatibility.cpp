#include "base/error.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/log_observer.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/remedies.h"
#include "report/json_reports.h"
#include "tasks/check.h"

namespace assay::cli {
namespace {

std::string counts(const results::BackendCompatibility& backend, const Arguments& arguments) {
  const size_t known = backend.node_count - backend.refused.size() - backend.untried_count;
  std::string text = fmt::format("{} of {} nodes can be run", known, backend.node_count);
  if (!backend.whole_refusal.empty()) {
    text = backend.refused.empty() ? "the model as a whole is refused"
                                   : fmt::format("{} of {} nodes cannot be run, and the rest as a whole is refused",
                                                 backend.refused.size(), backend.node_count);
    return text + ": " + backend.whole_refusal + remedy_text(backend.whole_remedy, arguments);
  }
  if (backend.untried_count != 0)
    text += fmt::format("; {} that need their results were not tried", backend.untried_count);
  return text;
}

void print_compatibility(const results::BackendCompatibility& backend, const Arguments& arguments, Log& log) {
  if (!backend.usable) {
    log.warning(fmt::format("{} | cannot be used: {}{}", backend.backend, backend.version,
                            remedy_text("library_places", arguments)));
    return;
  }
  for (const results::RefusedNode& node : backend.refused) {
    log.info(
        fmt::format("{} | {}: {}{}", backend.backend, node.node, node.reason, remedy_text(node.remedy, arguments)));
  }
  log.finish(fmt::format("{} | {} | {}", backend.backend, backend.accepts_all() ? "COMPATIBLE" : "NOT COMPATIBLE",
                         counts(backend, arguments)));
}

int verdict(const results::CompatibilityReport& report) {
  bool is_undecided = false;
  for (const results::BackendCompatibility& backend : report.backends) {
    if (!backend.accepts_all() && backend.usable) return kExitDifferent;
    is_undecided = is_undecided || !backend.usable;
  }
  return is_undecided ? kExitUndecided : kExitEqual;
}

int run_check_compatibility(const Arguments& arguments, Environment& environment) {
  const tasks::CompatibilityRequest request = {.model = model_source(arguments.value("model_file"), arguments),
                                               .backends = chosen_backends(arguments),
                                               .search = library_search(arguments)};
  LogObserver observer(arguments, environment);
  const results::CompatibilityReport report = tasks::check_compatibility(
      request, observer,
      [&](const results::BackendCompatibility& backend) { print_compatibility(backend, arguments, environment.log); });
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  return verdict(report);
}

}  // namespace

Command command_check_compatibility() {
  return {.path = "check compatibility",
          .summary = "report which backends can run a model, and which nodes they refuse",
          .description =
              "Asks each backend, all of this build unless some are named, for the nodes that it cannot run and why. "
              "Exit status: 0 every backend can run the model, 1 one cannot, 3 a backend is not there.",
          .positionals = {models_positional(true)},
          .groups = {logging_group(), model_group(), onnx_load_group(), backend_group(), json_group()},
          .run = run_check_compatibility,
          .examples = {"assay check compatibility model.onnx --onnxrt --openvino"},
          .takes_models = true};
}

}  // namespace assay::cli
