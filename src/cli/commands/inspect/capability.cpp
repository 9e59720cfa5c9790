#include "report/inspect/capability.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/log_observer.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/options/remedies.h"
#include "cli/peer.h"
#include "report/json_reports.h"
#include "tasks/check.h"
#include "tasks/inspect.h"

namespace assay::cli {
namespace {

constexpr std::string_view kDevice = "--device";
constexpr std::string_view kProviders = "--ep";

tasks::CapabilityRequest capability_request(const Arguments& arguments, bool as_peer) {
  tasks::CapabilityRequest request{.model = model_source(arguments.value("model_file"), arguments),
                                   .session = {.search = library_search(arguments), .settings = {}},
                                   .folder = {}};
  if (arguments.has(kDevice)) request.session.settings.set("device", {arguments.value(kDevice)});
  if (arguments.has(kProviders)) request.session.settings.set("ep", arguments.values(kProviders));
  const std::vector<std::string> backends = chosen_backends(arguments);
  if (backends.size() > 1) fail(ErrorCode::usage, "one backend is asked at a time, here are {}", backends.size());
  if (!backends.empty()) request.backend = backends[0];
  if (arguments.flag("--with-partitioning")) {
    request.folder =
        as_peer && !arguments.has("--output") ? "polygraphy_capability_dumps" : arguments.value("--output");
  } else if (arguments.has("--output")) {
    fail(ErrorCode::usage, "--output needs --with-partitioning");
  }
  return request;
}

void save_summary(const std::string& folder, const std::string& text, Log& log) {
  const std::string path = (std::filesystem::path(folder) / "results.txt").string();
  log.info("Saving results to " + printable(path));
  OutputFile file(path);
  file.write(text);
  file.commit();
}

void print_capability(const results::CapabilityReport& report, const std::string& folder, const Arguments& arguments,
                      Log& log) {
  if (!report.whole_refusal.empty()) {
    log.result(fmt::format("{} refuses the model as a whole: {}{}", report.title, printable(report.whole_refusal),
                           remedy_text(report.whole_remedy, arguments)));
  }
  const bool is_split = std::ranges::any_of(report.ranges, [](const auto& range) { return !range.is_supported; });
  if (!is_split) {
    if (report.whole_refusal.empty()) {
      log.result(fmt::format("Graph is fully supported by {}; Will not generate subgraphs.", report.title));
    }
    return;
  }
  const std::string text =
      folder.empty() ? report::refused_nodes_text(report) : report::capability_summary_text(report);
  log.result(text);
  if (report.untried_count > 0) {
    log.warning(fmt::format("{} node(s) that need results of these were not tried, and count as supported",
                            report.untried_count));
  }
  if (!folder.empty()) save_summary(folder, text + "\n", log);
}

int run_inspect_capability(const Arguments& arguments, Environment& environment) {
  const tasks::CapabilityRequest request = capability_request(arguments, is_called_as_peer(environment));
  LogObserver observer(arguments, environment);
  results::CapabilityReport report = tasks::inspect_capability(request, observer);
  if (is_called_as_peer(environment) && report.backend == tasks::plan_backend()) report.title = "TensorRT";
  if (!json_on_stdout(arguments)) print_capability(report, request.folder, arguments, environment.log);
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  return kExitEqual;
}

OptionGroup partition_group() {
  return {.title = "Parts",
          .description = "The model in parts that the backend runs and parts that it refuses",
          .rows = {{.names = {"--with-partitioning"},
                    .arity = Arity::flag,
                    .help = "write each part as a model of its own, and the table as results.txt"},
                   {.names = {"-o", "--output"},
                    .metavar = "FOLDER",
                    .default_value = "assay_capability_dumps",
                    .help = "where to; the folder is made",
                    .is_file = true},
                   {.names = {"--shape-inference", "--do-shape-inference"},
                    .arity = Arity::flag,
                    .help = "accepted, without effect: types are inferred anyway",
                    .hidden = true},
                   no_onnxruntime_row()}};
}

OptionGroup device_group() {
  return {.title = "Device",
          .description = "Where the engine or ONNX Runtime runs the model",
          .rows = {{.names = {kDevice},
                    .metavar = "DEVICE",
                    .help = "cpu, cuda or cuda:N: layers that a card leaves to the processor are shown as parts that "
                            "it does not run"},
                   {.names = {kProviders},
                    .arity = Arity::one_or_more,
                    .metavar = "NAME=LIBRARY",
                    .help = "with --onnxrt: execution providers from libraries of their own; nodes that they leave to "
                            "the processor are shown likewise"}}};
}

}  // namespace

Command command_inspect_capability() {
  return {
      .path = "inspect capability",
      .summary = "show which parts of a model a backend can run",
      .description =
          "Asks a backend, the built-in engine unless another is named, for the nodes that it cannot run, and shows "
          "them with the reasons. What no kernel of the engine computes runs on the operators of the reference: only "
          "what these do not know either is refused. Exit status: 0 also where nodes are refused (`check "
          "compatibility` gives 1), 2 wrong usage or input, 3 the backend is not there.",
      .positionals = {model_positional()},
      .groups = {logging_group(), model_group(), onnx_load_group(), partition_group(), backend_group(), device_group(),
                 json_group()},
      .run = run_inspect_capability,
      .examples = {"assay inspect capability model.onnx",
                   "assay inspect capability model.onnx --with-partitioning -o parts",
                   "assay inspect capability model.onnx --device cuda"}};
}

}  // namespace assay::cli
