#include "tasks/profile.h"

#include "base/error.h"
#include "base/files.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/log_observer.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/data.h"
#include "cli/options/groups/engine.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/values.h"
#include "cli/view/graph_section.h"
#include "report/bench/json_profile.h"
#include "report/bench/text_profile.h"
#include "report/html/profile_page.h"
#include "report/json_reports.h"

namespace assay::cli {
namespace {

tasks::ProfileRequest profile_request(const Arguments& arguments) {
  tasks::ProfileRequest request;
  request.model = model_source(arguments.value("model_file"), arguments);
  request.backends = chosen_backends(arguments);
  request.session = session_options(arguments);
  request.inputs = input_request(arguments);
  request.runs = request.inputs.iterations;
  request.inputs.iterations = 1;
  if (!arguments.has("--input-shapes")) add_profile_shapes(arguments, request.inputs.generated.shapes);
  request.seconds = parse_number("--duration", arguments.value("--duration"));
  request.is_marginal = arguments.flag("--marginal");
  tasks::check_profile(request);
  return request;
}

// A file that cannot be written is told before anything is measured.
void check_writable(const Arguments& arguments) {
  for (const std::string_view option : {"--output", "--report"}) {
    if (arguments.has(option)) static_cast<void>(OutputFile(arguments.value(option)));
  }
}

void save(const Arguments& arguments, std::string_view option, const std::string& text, Log& log) {
  if (!arguments.has(option)) return;
  const std::string path = arguments.value(option);
  log.info("Saving " + printable(path));
  OutputFile file(path);
  file.write(text);
  file.commit();
}

void print_backend(const results::ProfiledBackend& backend, Log& log) {
  if (!backend.failure.empty()) log.warning(fmt::format("{}: {}", backend.backend, printable(backend.failure)));
  if (backend.layers.empty()) return;
  if (backend.roof)
    log.info(fmt::format("The device of {} reaches {}", backend.title, report::roof_text(*backend.roof)));
  log.info(fmt::format("=== {} | {} run(s), median {:.4f} ms{} ===", backend.title, backend.runs,
                       backend.run_seconds * 1e3, backend.is_added ? " | what each layer adds to a run" : ""));
  for (const std::string& line : report::profile_table(backend)) log.info(line);
  for (const auto& [name, count] : backend.counters) log.info(fmt::format("{}: {} in a run", name, count));
}

void print_profile(const results::ProfileReport& report, Log& log) {
  log.info("The machine reaches " + report::roof_text(report.roof));
  for (const results::ProfiledBackend& backend : report.backends) print_backend(backend, log);
  if (!report.no_counters.empty()) log.info(report.no_counters);
  if (report.groups.empty()) return;
  log.info("=== Side by side, by nodes of the model ===");
  for (const std::string& line : report::side_by_side(report)) log.info(line);
}

int run_profile(const Arguments& arguments, Environment& environment) {
  const Stopwatch total;
  const tasks::ProfileRequest request = profile_request(arguments);
  check_writable(arguments);
  LogObserver observer(arguments, environment);
  results::ProfileReport report = tasks::profile(request, observer);
  report.timings.emplace_back("total_seconds", total.seconds());
  if (!json_on_stdout(arguments)) print_profile(report, environment.log);
  save(arguments, "--output", report::profile_trace(report), environment.log);
  if (arguments.has("--report"))
    write_page(arguments, environment,
               with_graph(report::profile_page(report, page_facts(environment)), request.model,
                          report::report_json(report), environment));
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  for (const results::ProfiledBackend& backend : report.backends) {
    if (!backend.layers.empty()) return kExitEqual;
  }
  return kExitUndecided;
}

OptionGroup profile_group() {
  return {
      .title = "Profile",
      .description = "What is measured and saved",
      .rows = {
          {.names = {"--iterations", "--iters"}, .metavar = "N", .default_value = "20", .help = "runs of each backend"},
          {.names = {"--duration"},
           .metavar = "SECONDS",
           .default_value = "5",
           .help = "fewer where they take longer than this"},
          {.names = {"--marginal"},
           .arity = Arity::flag,
           .help = "with --device cuda: what each layer on the card adds to a run, from runs in which it is computed "
                   "twice; launches of neighbours overlap, so that times of single layers add up to more than a run"},
          {.names = {"-o", "--output"},
           .metavar = "FILE",
           .help = "write trace events, which Chrome and Perfetto show",
           .is_file = true,
           .is_output = true},
          {.names = {"--report"},
           .metavar = "FILE",
           .help = "write a page with all tables",
           .is_file = true,
           .is_output = true}}};
}

std::vector<OptionGroup> groups() {
  std::vector<OptionGroup> all = {logging_group(), model_group(), onnx_load_group(), backend_group(), profile_group()};
  for (OptionGroup& group : backend_settings_groups()) all.push_back(std::move(group));
  OptionGroup data = data_group();
  for (OptionRow& row : saved_input_rows()) data.rows.push_back(std::move(row));
  for (OptionGroup& group : std::vector{std::move(data), limits_group(), json_group()}) all.push_back(std::move(group));
  return all;
}

}  // namespace

Command command_profile() {
  return {
      .path = "profile",
      .summary = "show where the time of a model goes, layer by layer",
      .description =
          "Runs a model on backends, the built-in engine unless others are named, and shows for each layer its time "
          "and share, the operations and bytes in a second beside what the machine reaches at best, and what bounds "
          "it. Layers of several backends are shown side by side by the nodes of the model that they compute. Exit "
          "status: 0 measured, 2 wrong usage or input, 3 no backend could be measured.",
      .positionals = {model_positional()},
      .groups = groups(),
      .run = run_profile,
      .examples = {"assay profile model.onnx -o trace.json",
                   "assay profile model.onnx --engine --onnxrt --openvino --report profile.html"}};
}

}  // namespace assay::cli
