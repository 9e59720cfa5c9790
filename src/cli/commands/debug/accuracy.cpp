#include "base/error.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/debug/comparison_words.h"
#include "cli/debug/convert_words.h"
#include "cli/debug/writable_outputs.h"
#include "cli/log_observer.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/ranks.h"
#include "cli/options/values.h"
#include "cli/view/graph_section.h"
#include "report/debug/text_culprit.h"
#include "report/html/hunt_page.h"
#include "report/json_reports.h"
#include "tasks/culprit.h"

namespace assay::cli {
namespace {

constexpr size_t kMostListed = 5;

tasks::AccuracyRequest accuracy_request(const Arguments& arguments) {
  tasks::AccuracyRequest request;
  request.model = model_source(arguments.value("model_file"), arguments);
  request.backends = chosen_backends(arguments);
  if (arguments.has("--against")) {
    if (request.backends.empty()) fail(ErrorCode::usage, "--against needs a backend: --onnxrt, --engine, ...");
    request.backends.push_back(arguments.value("--against"));
  }
  request.saved_outputs = arguments.values("--load-outputs");
  if (arguments.has("--other")) request.other = model_source(arguments.value("--other"), arguments);
  if (request.backends.empty() && request.saved_outputs.empty() && !request.other.is_given()) {
    fail(ErrorCode::usage, "nothing to judge: choose a backend (--onnxrt, --engine, ...) or --load-outputs");
  }
  check_input_data(arguments);
  request.inputs = input_request(arguments);
  request.session = session_options(arguments);
  request.isolate = arguments.flag("--isolate");
  if (arguments.has("--timeout")) {
    if (!request.isolate) fail(ErrorCode::usage, "--timeout needs --isolate");
    request.timeout_seconds = parse_number("--timeout", arguments.value("--timeout"));
    if (!(request.timeout_seconds > 0)) fail(ErrorCode::usage, "--timeout: expected seconds above 0");
  }
  request.tries_remedies = !arguments.flag("--no-remedies");
  return request;
}

// The settings of a remedy as options, in the place of those that the user gave.
std::string remedy_words(const results::Remedy& remedy, const results::AccuracyHunt& hunt, const Arguments& arguments) {
  if (!remedy.widened.empty() || !remedy.clipped.empty()) return mend_words(hunt.model, remedy);
  if (!remedy.precision.empty()) {
    std::vector<std::string> more;
    if (remedy.measures_ranges || remedy.precision == "int8") more = input_words(arguments);
    if (remedy.measures_ranges) more.emplace_back("--measure");
    if (remedy.clamps) more = {"--fp16-overflow", "clamp"};
    if (!remedy.calibration.empty()) more.insert(more.end(), {"--calibration", remedy.calibration});
    return convert_words(hunt.model, remedy.precision, remedy.excluded, more);
  }
  const auto side = std::ranges::find(hunt.sides, hunt.culprits.front().error.side, &results::AccuracySide::name);
  std::string words = fmt::format("assay run {} --{}", printable(hunt.model), side->backend);
  for (const auto& [name, value] : remedy.settings)
    words += fmt::format(" --{}{}{}", name, value.empty() ? "" : " ", value);
  return words;
}

void print_remedies(const results::AccuracyHunt& hunt, const Arguments& arguments, Log& log) {
  for (const results::Remedy& remedy : hunt.remedies) {
    log.info(fmt::format("Tried: {} | error of the outputs {:.4g} -> {:.4g}{}", remedy.text, remedy.error_before,
                         remedy.error_after,
                         !remedy.helps ? ""
                                       : fmt::format(" | {}: {}", remedy.cures ? "cured by" : "better with",
                                                     remedy_words(remedy, hunt, arguments))));
  }
}

void print_hunt(const results::AccuracyHunt& hunt, const Arguments& arguments, Log& log) {
  for (const std::string& line : report::side_lines(hunt)) log.info(line);
  const bool is_verbose = log.enabled(LogLevel::verbose);
  for (const std::string& line : report::culprit_lines(hunt, is_verbose ? SIZE_MAX : kMostListed))
    log.verdict(false, line);
  if (!hunt.culprits.empty() && !hunt.culprits.front().error.value.empty()) {
    log.info(fmt::format("To look at what computes it: assay surgeon extract {} --outputs {} -o part.onnx",
                         printable(hunt.model), printable(hunt.culprits.front().error.value)));
  }
  for (const std::string& line : report::harmless_lines(hunt, is_verbose ? SIZE_MAX : kMostListed)) log.info(line);
  log.info("Layers that add most beside what they may:");
  for (const std::string& line : report::layer_lines(hunt, is_verbose ? SIZE_MAX : kMostListed)) log.info(line);
  for (const std::string& line : report::cost_lines(hunt)) log.info(line);
  if (hunt.is_quantized) {
    log.info(
        "Layers are judged beside the first model, by what their quantizers explain; `run --tolerance auto` judges the "
        "outputs of one model by its own quantizers and can differ");
  }
  print_remedies(hunt, arguments, log);
  if (!hunt.doubt.empty()) log.warning(hunt.doubt);
}

void save_page(const results::AccuracyHunt& hunt, const tasks::ModelSource& model, const Arguments& arguments,
               Environment& environment) {
  if (!arguments.has("--report")) return;
  report::PageFacts facts = page_facts(environment);
  const auto cure = std::ranges::find_if(hunt.remedies, &results::Remedy::cures);
  if (cure != hunt.remedies.end()) facts.hint = "Cured by: " + remedy_words(*cure, hunt, arguments);
  write_page(arguments, environment,
             with_graph(report::hunt_page(hunt, facts), model, report::report_json(hunt), environment));
}

int run_debug_accuracy(const Arguments& arguments, Environment& environment) {
  const Stopwatch total;
  keep_freed_memory();
  Log& log = environment.log;
  const tasks::AccuracyRequest request = accuracy_request(arguments);
  require_writable_outputs(arguments);
  const std::string command = printable(environment.command_line);
  log.start(fmt::format("RUNNING | Command: {}", command));
  LogObserver observer(arguments, environment);
  const results::AccuracyHunt hunt = tasks::debug_accuracy(request, observer);
  print_hunt(hunt, arguments, log);
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(hunt));
  save_page(hunt, request.model, arguments, environment);
  const int status = !hunt.culprits.empty() ? kExitDifferent : hunt.doubt.empty() ? kExitEqual : kExitUndecided;
  const std::string_view word = status == kExitEqual ? "PASSED" : status == kExitDifferent ? "FAILED" : "UNDECIDED";
  log.verdict(status == kExitEqual, fmt::format("{} | Runtime: {:.3f}s | Command: {}", word, total.seconds(), command));
  return status;
}

OptionGroup accuracy_group() {
  const auto choices = backend_choices();
  return {.title = "Sides",
          .description = "Whose layers are judged",
          .rows = {
              {.names = {"--against"},
               .choices = {choices.begin(), choices.end()},
               .help = "another backend, whose layers are judged likewise"},
              {.names = {"--load-outputs", "--load-results"},
               .arity = Arity::one_or_more,
               .metavar = "FILE",
               .help = "saved results, with the values between as `run --onnx-outputs mark all` saves them",
               .is_file = true},
              {.names = {"--other"},
               .metavar = "MODEL",
               .help = "the model after a conversion or rewrite, run by the same backend (default: the reference): its "
                       "layers are judged as those that they correspond to",
               .is_file = true},
              {.names = {"--no-remedies"}, .arity = Arity::flag, .help = "try nothing that could cure the fault"},
              {.names = {"--isolate"}, .arity = Arity::flag, .help = "run each backend in a process of its own"},
              {.names = {"--timeout"}, .metavar = "SECONDS", .help = "with --isolate: the longest that a run may take"},
              {.names = {"--report"},
               .metavar = "FILE",
               .help = "write one HTML page with the layers coloured by what they introduce",
               .is_file = true,
               .is_output = true}}};
}

std::vector<OptionGroup> groups() {
  OptionGroup backends = without_python(backend_group());
  std::vector<OptionGroup> all = {logging_group(),   model_group(),
                                  onnx_load_group(), std::move(backends),
                                  accuracy_group(),  input_data_group({"--input-shapes", "--inputs"}, true)};
  for (OptionGroup& group : backend_settings_groups()) all.push_back(std::move(group));
  all.push_back(ranks_group());
  all.push_back(limits_group());
  all.push_back(json_group());
  return all;
}

}  // namespace

Command command_debug_accuracy() {
  return {
      .path = "debug accuracy",
      .summary = "find the first layer that computes something wrong, and say why",
      .description =
          "Asks backends, or saved results, for the values of all layers, and computes each layer once more in "
          "float64 on what that side gave it: so what a layer introduces is told apart from what it inherits. A "
          "layer is accused if it introduces more than its rounding allows. The cause is looked for in the numbers "
          "and by trying what else the layer could be, and remedies are tried. Exit status: 0 no layer is accused, 1 "
          "a guilty layer is found, 2 wrong usage or input, 3 it cannot be decided.",
      .positionals = {model_positional()},
      .groups = groups(),
      .run = run_debug_accuracy,
      .examples = {"assay debug accuracy model.onnx --onnxrt --against engine --report page.html",
                   "assay debug accuracy model.onnx --load-inputs inputs.json --load-outputs golden.json new.json"}};
}

}  // namespace assay::cli
