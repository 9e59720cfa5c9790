#include <algorithm>

#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/debug/comparison_words.h"
#include "cli/debug/runtimes.h"
#include "cli/debug/writable_outputs.h"
#include "cli/log_observer.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/check.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/onnx_save.h"
#include "cli/options/groups/passes.h"
#include "report/debug/text_debug.h"
#include "report/json_reports.h"
#include "tasks/bisection.h"
#include "tasks/check.h"

namespace assay::cli {
namespace {

bool is_conversion(const Arguments& arguments) {
  return arguments.flag("--fp-to-fp16") || arguments.flag("--fp-to-bf16") || arguments.flag("--fp-to-int8");
}

bool is_rewrite(const Arguments& arguments) {
  return arguments.has("--simplify") || arguments.has("--fuse") || arguments.has("--opset") ||
         arguments.has("--passes") || arguments.has("--fold-constants") || arguments.has("--cleanup");
}

tasks::PassRequest passes_of(const Arguments& arguments) {
  tasks::PassRequest request = pass_request(arguments);
  request.folds = arguments.flag("--fold-constants");
  request.cleans = arguments.flag("--cleanup");
  return request;
}

tasks::ConvertRequest int8_request() {
  tasks::Int8Request int8{.backend = "ref"};
  const std::span<const tasks::Calibrator> known = tasks::calibrators();
  tasks::set_calibrator(*std::ranges::find(known, "minmax", &tasks::Calibrator::word), int8);
  tasks::ConvertRequest request;
  request.conversion = std::move(int8);
  return request;
}

std::variant<tasks::PassRequest, tasks::ConvertRequest> steps_of(const Arguments& arguments) {
  for (const std::string_view name : {"--explain", "--stop-after-step"}) {
    if (arguments.has(name)) fail(ErrorCode::usage, "{} has no meaning here: steps are counted by the search", name);
  }
  if (is_rewrite(arguments) == is_conversion(arguments)) {
    fail(ErrorCode::usage,
         "name what changes the model: passes (--simplify, --fuse, --fold-constants, ...), or a "
         "conversion (--fp-to-fp16, --fp-to-bf16, --fp-to-int8)");
  }
  if (is_rewrite(arguments)) return passes_of(arguments);
  if (arguments.flag("--fp-to-fp16") + arguments.flag("--fp-to-bf16") + arguments.flag("--fp-to-int8") > 1) {
    fail(ErrorCode::usage, "--fp-to-fp16, --fp-to-bf16 and --fp-to-int8 exclude each other");
  }
  if (arguments.flag("--fp-to-int8")) return int8_request();
  tasks::HalfRequest half;
  half.options.half = arguments.flag("--fp-to-fp16") ? tensor::DType::float16 : tensor::DType::bfloat16;
  tasks::ConvertRequest request;
  request.conversion = half;
  return request;
}

tasks::BisectionRequest bisection_request(const Arguments& arguments, Environment& environment) {
  tasks::BisectionRequest request;
  request.model = model_source(arguments.value("model_file"), arguments);
  request.steps = steps_of(arguments);
  check_input_data(arguments);
  request.inputs = input_request(arguments);
  request.comparison = comparison_request(arguments, environment.log, "ref");
  if (request.comparison.backend.empty()) {
    request.check = check_request(arguments, environment);
  } else {
    refuse_check(arguments);
    request.check = replay_request(arguments);
  }
  request.artifact = arguments.value("--intermediate-artifact");
  request.keeps_artifact = arguments.flag("--no-remove-intermediate");
  request.output = arguments.value("--output");
  request.least_good = arguments.value("--min-good");
  request.reduced = arguments.value("--reduced");
  request.save = save_options(arguments, request.output);
  return request;
}

int finish(const results::BisectionReport& report, Log& log) {
  log.finish(report::loop_summary(report.loop));
  if (report.fails_before) {
    log.error("the model fails before any step: none of them is to blame");
    return kExitDifferent;
  }
  if (!report.is_reproduced) {
    log.error(fmt::format("the model does not fail after all {} steps", report.step_count));
    return kExitDifferent;
  }
  log.finish(
      fmt::format("It fails from step {} of {} on: {}", report.step, report.step_count, printable(report.explanation)));
  if (!report.nodes.empty()) log.info(fmt::format("Of the model then, {} node(s) are enough:", report.nodes.size()));
  for (const results::ReducedNode& node : report.nodes)
    log.info(fmt::format("    {} ({})", printable(node.name), printable(node.op)));
  return kExitEqual;
}

void refuse_steps(const Arguments& arguments) {
  if (is_rewrite(arguments) || is_conversion(arguments)) {
    fail(ErrorCode::usage, "--tactics searches tactics: the model is not changed");
  }
  for (const std::string_view name : {"--output", "--min-good", "--reduced"}) {
    if (arguments.has(name)) fail(ErrorCode::usage, "{} has no meaning with --tactics: the model is not changed", name);
  }
}

tasks::TacticSearchRequest tactics_request(const Arguments& arguments, Environment& environment) {
  refuse_steps(arguments);
  const std::vector<std::string> files = arguments.values("--tactics");
  if (files.size() != 2) fail(ErrorCode::usage, "--tactics: expected two files, the good tactics and the bad ones");
  tasks::TacticSearchRequest request{.good_tactics = files[0], .bad_tactics = files[1]};
  request.model = model_source(arguments.value("model_file"), arguments);
  check_input_data(arguments);
  request.inputs = input_request(arguments);
  request.comparison = comparison_request(arguments, environment.log, tasks::plan_backend());
  if (request.comparison.backend.empty()) {
    request.check = check_request(arguments, environment);
    request.comparison.session = session_options(arguments);
  } else {
    if (request.comparison.backend != tasks::plan_backend())
      fail(ErrorCode::usage, "--tactics is about the engine: name it first");
    refuse_check(arguments);
    request.check = replay_request(arguments);
  }
  const bool is_named = arguments.has("--intermediate-artifact");
  request.artifact = is_named ? arguments.value("--intermediate-artifact") : "polygraphy_debug.engine";
  request.keeps_artifact = arguments.flag("--no-remove-intermediate");
  return request;
}

int finish(const results::TacticReport& report, Log& log) {
  log.finish(report::loop_summary(report.loop));
  if (report.fails_before || !report.is_reproduced) {
    log.error(report.fails_before ? "it fails with the good tactics: they are not to blame"
                                  : "it does not fail with the bad tactics");
    return kExitDifferent;
  }
  log.finish(fmt::format("It fails with {} of {} tactics that differ:", report.guilty.size(), report.different_count));
  for (const results::GuiltyTactic& tactic : report.guilty) {
    log.info(fmt::format("    {}: {} in the place of {}", printable(tactic.layer), tactic.bad, tactic.good));
  }
  return kExitEqual;
}

void end(const Stopwatch& total, int status, Environment& environment) {
  environment.log.verdict(status == kExitEqual,
                          fmt::format("{} | Runtime: {:.3f}s | Command: {}", status == kExitEqual ? "PASSED" : "FAILED",
                                      total.seconds(), printable(environment.command_line)));
}

int run_tactics(const Arguments& arguments, Environment& environment) {
  const Stopwatch total;
  const tasks::TacticSearchRequest request = tactics_request(arguments, environment);
  require_writable_outputs(arguments);
  environment.log.start(fmt::format("RUNNING | Command: {}", printable(environment.command_line)));
  LogObserver observer(arguments, environment);
  const results::TacticReport report = tasks::debug_tactics(request, observer);
  const int status = finish(report, environment.log);
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  end(total, status, environment);
  return status;
}

int run_debug_bisect(const Arguments& arguments, Environment& environment) {
  if (arguments.has("--runtimes")) {
    if (is_rewrite(arguments) || is_conversion(arguments) || arguments.has("--tactics"))
      fail(ErrorCode::usage, "--runtimes searches environments: the model is not changed");
    return run_runtimes(arguments, environment);
  }
  if (arguments.has("--tactics")) return run_tactics(arguments, environment);
  const Stopwatch total;
  const std::string command = printable(environment.command_line);
  const tasks::BisectionRequest request = bisection_request(arguments, environment);
  require_writable_outputs(arguments);
  environment.log.start(fmt::format("RUNNING | Command: {}", command));
  LogObserver observer(arguments, environment);
  const results::BisectionReport report = tasks::debug_bisect(request, observer);
  const int status = finish(report, environment.log);
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  end(total, status, environment);
  return status;
}

OptionGroup steps_group() {
  OptionGroup group = pass_group();
  for (OptionRow& row : group.rows) {
    row.hidden = row.hidden || canonical_name(row) == "--explain" || canonical_name(row) == "--stop-after-step";
  }
  const auto flag = [](std::string_view name, std::string_view help) {
    return OptionRow{.names = {name}, .arity = Arity::flag, .help = help};
  };
  group.title = "Steps";
  group.description = "What changes the model, step by step";
  group.rows.push_back(flag("--cleanup", "remove unused nodes and weights"));
  group.rows.push_back(flag("--fold-constants", "compute what is the same in every run"));
  group.rows.push_back(flag("--fp-to-fp16", "convert to float16: a step for each layer"));
  group.rows.push_back(flag("--fp-to-bf16", "convert to bfloat16 likewise"));
  group.rows.push_back(flag("--fp-to-int8", "quantise to int8, calibrated on the inputs: a step for each layer"));
  group.rows.push_back({.names = {"--tactics"},
                        .arity = Arity::one_or_more,
                        .metavar = "FILE",
                        .help =
                            "instead of steps: two files of the engine's tactics (--save-tactics), good ones and bad "
                            "ones; finds those of the second that make a plan fail"});
  group.rows.push_back(runtimes_row());
  const auto file = [](std::vector<std::string_view> names, std::string_view help) {
    return OptionRow{.names = std::move(names), .metavar = "FILE", .help = help, .is_file = true, .is_output = true};
  };
  group.rows.push_back(file({"-o", "--output"}, "save the model after the step that is found"));
  group.rows.push_back(file({"--min-good"}, "save the model before it"));
  group.rows.push_back(
      file({"--reduced"}, "search the model after that step too, and save its smallest part that fails"));
  return group;
}

}  // namespace

Command command_debug_bisect() {
  return {
      .path = "debug bisect",
      .summary = "find the step of a rewrite or conversion that breaks a model",
      .description =
          "Passes and conversions change a model in numbered steps. This applies more or fewer of them, has the "
          "model judged, by a command, by you, or by comparing a backend with the model as it was, and finds the "
          "step from which on it fails. Exit status: 0 the step is found, 1 the model does not fail after all "
          "steps, or fails before the first, 2 wrong usage or input, 3 it could not be done.",
      .positionals = {model_positional()},
      .groups = search_groups(steps_group(), {.replays = true, .artifact = "polygraphy_debug.onnx"}),
      .run = run_debug_bisect,
      .examples = {"assay debug bisect model.onnx --simplify --fuse --onnxrt --against ref --tolerance auto",
                   "assay debug bisect model.onnx --onnxrt --runtimes envs/1.29 envs/1.30 envs/1.31",
                   "assay debug bisect model.onnx --fp-to-fp16 --onnxrt --atol 1e-2 -o bad.onnx --min-good good.onnx"},
      .exact_names = true};
}

}  // namespace assay::cli
