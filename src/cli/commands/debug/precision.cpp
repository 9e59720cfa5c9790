#include "tasks/precision.h"

#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/debug/comparison_words.h"
#include "cli/debug/convert_words.h"
#include "cli/debug/writable_outputs.h"
#include "cli/log_observer.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/check.h"
#include "cli/options/groups/config_script.h"
#include "cli/options/groups/engine.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/onnx_save.h"
#include "cli/options/groups/run.h"
#include "cli/options/groups/shape_inference.h"
#include "report/debug/text_debug.h"
#include "report/json_reports.h"
#include "tasks/check.h"

namespace assay::cli {
namespace {

constexpr std::pair<std::string_view, tasks::LowPrecision> kLowPrecisions[] = {
    {"--int8", tasks::LowPrecision::int8},
    {"--fp16", tasks::LowPrecision::float16},
    {"--bf16", tasks::LowPrecision::bfloat16}};

tasks::LowPrecision low_precision(const Arguments& arguments) {
  if (arguments.value("--precision") == "float16") {
    fail(ErrorCode::unsupported,
         "--precision float16: layers are kept in float32; float16 as the better type is not "
         "supported");
  }
  std::optional<tasks::LowPrecision> chosen;
  for (const auto& [option, low] : kLowPrecisions) {
    if (!arguments.flag(option)) continue;
    if (chosen) fail(ErrorCode::usage, "the model is converted to one type: --fp16, --bf16 or --int8");
    chosen = low;
  }
  if (!chosen) fail(ErrorCode::usage, "name the type that the model is converted to: --fp16, --bf16 or --int8");
  return *chosen;
}

tasks::PrecisionDirection direction(const Arguments& arguments) {
  const std::string word = arguments.value("--direction");
  if (word == "forward") return tasks::PrecisionDirection::forward;
  return word == "reverse" ? tasks::PrecisionDirection::reverse : tasks::PrecisionDirection::any;
}

tasks::PrecisionRequest precision_request(const Arguments& arguments, Environment& environment) {
  refuse_absent_options(engine_debug_group(), arguments);
  tasks::PrecisionRequest request;
  request.model = model_source(arguments.value("model_file"), arguments);
  request.low = low_precision(arguments);
  request.direction = direction(arguments);
  request.interface = {parse_outputs(arguments), parse_interface_types(arguments)};
  request.is_linear = arguments.value("--mode") == "linear";
  check_input_data(arguments);
  request.inputs = input_request(arguments);
  request.comparison = comparison_request(arguments, environment.log, tasks::plan_backend());
  if (request.comparison.backend.empty()) {
    request.check = check_request(arguments, environment);
    request.comparison.session = session_options(arguments);
    add_default_profile(arguments, request.comparison.session);
  } else {
    refuse_check(arguments);
    request.check = replay_request(arguments);
  }
  read_config_script(arguments, request.model.path, request.comparison.session);
  // These settings say what the model becomes, and not how it is run.
  for (const std::string_view name : {"bf16", "fp16", "int8", "tf32"}) request.comparison.session.settings.erase(name);
  request.artifact = arguments.value("--intermediate-artifact");
  request.keeps_artifact = arguments.flag("--no-remove-intermediate");
  request.output = arguments.value("--output");
  request.save = save_options(arguments, request.output);
  return request;
}

void print_precision(const results::PrecisionReport& report, Log& log) {
  if (!report.is_found) {
    log.error("Could not find a configuration that satisfied accuracy requirements.");
    return;
  }
  if (!report.unconverted.empty()) {
    log.info(fmt::format("The conversion leaves {} layer(s) in float32 by itself (`convert` says why)",
                         report.unconverted.size()));
  }
  if (report.kept.empty()) {
    log.finish(report.unconverted.empty()
                   ? fmt::format("No layer has to stay in float32: {} is enough for all {} that are converted",
                                 report.low, report.converted_count)
                   : "No other layer has to stay in float32");
    return;
  }
  if (report.kept.size() == report.layer_count) {
    log.finish(fmt::format("{} cannot reach this accuracy: all {} layer(s) have to stay in float32{}", report.low,
                           report.layer_count,
                           report.direction == "any" ? "" : "; --direction any looks for fewer, wherever they are"));
    return;
  }
  const std::string which = report.direction == "any"       ? "these"
                            : report.direction == "forward" ? "the first"
                                                            : "the last";
  log.finish(fmt::format("To achieve acceptable accuracy, try running {} {} layer(s) in higher precision", which,
                         report.kept.size()));
  for (const results::ReducedNode& node : report.kept) {
    log.info(fmt::format("    {} ({})", printable(node.name), printable(node.op)));
  }
  std::vector<std::string> kept;
  for (const results::ReducedNode& node : report.kept) kept.push_back(node.name);
  log.info("As an ONNX model: " + convert_words(report.model, report.low, kept));
}

int run_debug_precision(const Arguments& arguments, Environment& environment) {
  const Stopwatch total;
  const std::string command = printable(environment.command_line);
  const tasks::PrecisionRequest request = precision_request(arguments, environment);
  require_writable_outputs(arguments);
  environment.log.start(fmt::format("RUNNING | Command: {}", command));
  LogObserver observer(arguments, environment);
  const results::PrecisionReport report = tasks::debug_precision(request, observer);
  environment.log.finish(report::loop_summary(report.loop));
  print_precision(report, environment.log);
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  environment.log.finish(fmt::format("PASSED | Runtime: {:.3f}s | Command: {}", total.seconds(), command));
  return kExitEqual;
}

OptionGroup search_group() {
  return {.title = "Search",
          .description = "Which layers stay in float32",
          .rows = {{.names = {"--direction", "--dir"},
                    .choices = {"forward", "reverse", "any"},
                    .default_value = "forward",
                    .help = "the first layers, the last ones, or as few as possible, wherever they are"},
                   {.names = {"--mode"},
                    .choices = {"bisect", "linear"},
                    .default_value = "bisect",
                    .help = "halve what is left, or take one layer after the other"},
                   {.names = {"-p", "--precision"},
                    .choices = {"float32", "float16"},
                    .default_value = "float32",
                    .help = "the better type; only float32 is supported"},
                   {.names = {"-o", "--output"},
                    .metavar = "FILE",
                    .help = "save the model that was found, as ONNX",
                    .is_file = true,
                    .is_output = true},
                   {.names = {"--mark-all"},
                    .arity = Arity::flag,
                    .help = "accepted, without effect: every layer is looked at",
                    .hidden = true},
                   {.names = {"--shape-inference", "--do-shape-inference"},
                    .arity = Arity::flag,
                    .help = "accepted, without effect: types are inferred anyway",
                    .hidden = true},
                   no_onnxruntime_row()},
          .spellings = {{.option = "--golden-outputs", .value = "*", .words = {"--load-outputs", "{}"}},
                        {.option = "--save-layer-outputs", .value = "*", .words = {"--json", "{}"}}}};
}

// Here `--mark-all` is an option of its own.
OptionGroup outputs_group() {
  OptionGroup group = output_group();
  group.spellings.clear();
  return group;
}

}  // namespace

Command command_debug_precision() {
  return {
      .path = "debug precision",
      .summary = "find the layers that must stay in float32",
      .description =
          "Converts the model to float16, bfloat16 or int8 but for some layers, has it judged by a command, by you, "
          "or by comparing a backend with something else, and searches for the layers that have to stay in "
          "float32. The command that converts the model so is printed. What is checked is a plan of the built-in "
          "engine, or an ONNX model if the file that is checked is called so. Exit status: 0 the search has ended, "
          "2 wrong usage or input, 3 it could not be done.",
      .positionals = {model_positional()},
      .groups = search_groups(search_group(), {.replays = true, .artifact = "polygraphy_debug.engine"},
                              {outputs_group(), interface_group(), config_script_group(), engine_debug_group()}),
      .run = run_debug_precision,
      .examples = {"assay debug precision model.onnx --fp16 --direction any --onnxrt --against ref-fp64 --atol 1e-2",
                   "assay debug precision model.onnx --int8 --check assay run polygraphy_debug.engine --trt "
                   "--load-outputs golden.json --atol 0.1"},
      .exact_names = true};
}

}  // namespace assay::cli
