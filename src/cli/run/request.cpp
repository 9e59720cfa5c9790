#include "cli/run/request.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/calibration.h"
#include "cli/options/groups/compare.h"
#include "cli/options/groups/config_script.h"
#include "cli/options/groups/data.h"
#include "cli/options/groups/engine.h"
#include "cli/options/groups/generation.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/onnx_save.h"
#include "cli/options/groups/run.h"
#include "cli/options/values.h"
#include "tasks/check.h"

namespace assay::cli {
namespace {

// `top-5` or `top-5,axis=1`
compare::TopK parse_top_k(std::string_view text) {
  constexpr std::string_view kTop = "top-";
  constexpr std::string_view kAxis = "axis=";
  const std::vector<std::string_view> parts = split(text, ',');
  const bool has_axis = parts.size() == 2 && parts[1].starts_with(kAxis);
  if (!parts[0].starts_with(kTop) || parts.size() > 2 || (parts.size() == 2 && !has_axis)) {
    fail(ErrorCode::usage, "--postprocess: expected top-K or top-K,axis=N, seen `{}`", printable(text));
  }
  compare::TopK setting;
  setting.k = static_cast<int64_t>(parse_count("--postprocess", parts[0].substr(kTop.size()), 1));
  if (has_axis) setting.axis = parse_integer("--postprocess", parts[1].substr(kAxis.size()));
  return setting;
}

void read_post_processing(const Arguments& arguments, tasks::RunRequest& request) {
  for (const std::string& text : arguments.values("--postprocess")) {
    const size_t top = text.rfind("top-");
    const bool has_name = top != std::string::npos && top > 0 && text[top - 1] == ':';
    request.post_processing.set(has_name ? text.substr(0, top - 1) : "",
                                parse_top_k(has_name ? text.substr(top) : text));
  }
}

std::optional<std::string> picture_folder(const Arguments& arguments, std::string_view save, std::string_view show) {
  if (arguments.has(save)) return arguments.value(save);
  return arguments.flag(show) ? std::optional<std::string>("") : std::nullopt;
}

std::optional<remote::ScriptFunction> script(const Arguments& arguments, std::string_view option,
                                             std::string_view default_function) {
  if (!arguments.has(option)) return std::nullopt;
  return remote::parse_script_function(arguments.value(option), default_function);
}

void read_files(const Arguments& arguments, tasks::RunRequest& request, uint64_t least_iterations) {
  request.saved_outputs = arguments.values("--load-outputs");
  request.save_inputs = arguments.value("--save-inputs");
  request.save_outputs = arguments.value("--save-outputs");
  request.heat_maps = picture_folder(arguments, "--save-heatmaps", "--show-heatmaps");
  request.error_plots = picture_folder(arguments, "--save-error-metrics-plot", "--show-error-metrics-plot");
  request.save_onnx = arguments.value("--save-onnx");
  request.save_onnx_options = save_options(arguments, request.save_onnx);
  request.infer_shapes = arguments.flag("--shape-inference");
  request.converts_to_float16 = arguments.flag("--fp-to-fp16");
  if (arguments.has("--save-input-blob")) {
    const std::string folder = arguments.value("--save-input-blob");
    request.save_blobs = folder.empty() ? "." : folder;
  }
  constexpr std::string_view kShapes = "--input-shapes";
  check_input_data(arguments, kShapes, least_iterations);
  request.inputs = input_request(arguments, kShapes, least_iterations);
  if (!arguments.has("--input-shapes")) add_profile_shapes(arguments, request.inputs.generated.shapes);
  request.scripts.postprocess = script(arguments, "--postprocess-func-script", "postprocess_outputs");
  request.scripts.compare = script(arguments, "--compare-func-script", "compare_outputs");
}

void read_execution(const Arguments& arguments, tasks::RunRequest& request) {
  request.generation = generation_request(arguments, request.backends);
  request.isolate = arguments.flag("--isolate");
  if (arguments.has("--timeout")) {
    request.timeout_seconds = parse_number("--timeout", arguments.value("--timeout"));
    if (!(request.timeout_seconds > 0)) {
      fail(ErrorCode::usage, "--timeout: expected seconds above 0, seen `{}`", printable(arguments.value("--timeout")));
    }
    if (!request.isolate && request.scripts.is_empty() && !request.inputs.script) {
      fail(ErrorCode::usage, "--timeout needs --isolate: what runs in this process cannot be ended");
    }
  }
  if (!arguments.has("--jobs")) return;
  request.jobs = parse_count("--jobs", arguments.value("--jobs"), 1);
  if (!request.isolate)
    fail(ErrorCode::usage, "--jobs needs --isolate: in one process, backends would disturb each other");
}

// Refuses words that contradict each other.
void check(const RunWords& words) {
  const tasks::RunRequest& request = words.request;
  if (words.runs_nothing() && !words.request.may_judge_nothing) {
    fail(ErrorCode::usage, "nothing to run or compare: choose a backend (--ref, --onnxrt, ...) or --load-outputs");
  }
  if (!request.backends.empty() && request.model.path.empty())
    fail(ErrorCode::usage, "a backend is chosen, but no model is given");
  if (request.computes_tolerance && request.backends.empty()) {
    fail(ErrorCode::usage, "--tolerance auto needs the model that the outputs come from");
  }
}

std::vector<std::string> notes_about(const Arguments& arguments, const tasks::RunRequest& request) {
  std::vector<std::string> notes;
  if (request.backends.empty() && !request.model.path.empty()) {
    notes.emplace_back("no backend is chosen: the model is not run");
  }
  if (std::ranges::none_of(request.backends, tasks::builds_engines)) {
    for (const OptionRow& row : engine_settings_group().rows) {
      const std::string_view name = canonical_name(row);
      if (arguments.has(name)) notes.push_back(fmt::format("`{}` is not used: the engine does not run", name));
    }
  }
  for (std::string& note : unused_settings(arguments, request.backends)) notes.push_back(std::move(note));
  if (request.inputs.is_generated()) return notes;
  for (const std::string_view ignored : {"--seed", "--val-range", "--input-shapes", "--iterations", "--int-min",
                                         "--int-max", "--float-min", "--float-max", "--sensible-inputs"}) {
    if (arguments.has(ignored)) {
      notes.push_back(fmt::format("Argument: '{}' will be ignored since a custom data loader was provided", ignored));
    }
  }
  return notes;
}

bool has_engine(const tasks::RunRequest& request) { return std::ranges::any_of(request.backends, tasks::has_plans); }

// Settings of the engine, where it runs.
void read_engine(const Arguments& arguments, tasks::RunRequest& request) {
  const std::optional<tasks::EngineIntegers> integers = engine_integers(arguments);
  if (has_engine(request)) {
    read_config_script(arguments, request.model.path, request.session);
    request.integers = integers;
  } else if (arguments.has("--trt-config-script")) {
    fail(ErrorCode::usage, "--trt-config-script: the engine does not run");
  }
}

}  // namespace

RunWords parse_run(const Arguments& arguments, bool as_peer) {
  RunWords words = {.request = {}, .accuracy = arguments.value("--save-accuracy-results")};
  tasks::RunRequest& request = words.request;
  refuse_absent_options(engine_run_group(), arguments);
  request.backends = chosen_backends(arguments);
  if (as_peer) request.words = peer_words();
  request.model = model_source(arguments.value("model_file"), arguments);
  read_opset(arguments, request.model);
  request.plans = chosen_plans(arguments);
  if (request.model.path.empty() && request.plans.size() == 1) request.model.path = request.plans.begin()->second;
  request.session = session_options(arguments);
  read_engine(arguments, request);
  request.compare = compare_options(arguments, words.notes);
  request.leaves_out_unpaired = as_peer && !arguments.flag("--strict-outputs");
  if (as_peer && !arguments.has("--match-by")) request.compare.match_by = compare::MatchBy::order;
  read_post_processing(arguments, request);
  request.outputs = parse_outputs(arguments);
  if (has_engine(request)) request.outputs.debugged = arguments.values("--mark-debug");
  request.interface_types = parse_interface_types(arguments);
  request.warm_up = parse_count("--warm-up", arguments.value("--warm-up"), 0);
  request.is_sequential = arguments.flag("--sequential-runners");
  request.computes_tolerance = wants_computed_tolerance(arguments);
  request.check_average = arguments.flag("--check-average");
  request.validate = arguments.flag("--validate");
  request.makes_page = arguments.has("--report");
  read_files(arguments, request, as_peer ? 0 : 1);
  read_execution(arguments, request);
  const bool has_no_pair = request.backends.size() + request.saved_outputs.size() < 2;
  request.may_judge_nothing = as_peer && (has_no_pair || request.inputs.iterations == 0);
  check(words);
  if (!words.runs_nothing()) tasks::check_run(request);
  for (std::string& note : notes_about(arguments, request)) words.notes.push_back(std::move(note));
  return words;
}

}  // namespace assay::cli
