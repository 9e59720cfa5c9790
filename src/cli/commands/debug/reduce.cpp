#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/debug/comparison_words.h"
#include "cli/debug/writable_outputs.h"
#include "cli/edit/boundary_words.h"
#include "cli/log_observer.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/check.h"
#include "cli/options/groups/compare.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/onnx_save.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/options/values.h"
#include "cli/peer.h"
#include "report/debug/text_debug.h"
#include "report/json_reports.h"

namespace assay::cli {
namespace {

std::vector<surgery::Boundary> parse_shapes(const Arguments& arguments) {
  std::vector<surgery::Boundary> shapes;
  for (const std::string& word : arguments.values("--model-input-shapes")) {
    if (word.ends_with(":auto")) continue;  // the type that the model says
    shapes.push_back(parse_input_boundary("--model-input-shapes", word));
    if (!shapes.back().shape) {
      fail(ErrorCode::usage, "--model-input-shapes: expected NAME:[DIM,...], seen `{}`", printable(word));
    }
  }
  return shapes;
}

void read_goals(const Arguments& arguments, tasks::ReduceRequest& request) {
  request.output = arguments.value("--output");
  request.least_good = arguments.value("--min-good");
  request.reproducer = arguments.value("--reproducer");
  if (request.output.empty() && request.least_good.empty() && request.reproducer.empty()) {
    fail(ErrorCode::usage, "name the reduced model with --output FILE, or the good one with --min-good FILE");
  }
  request.save = save_options(arguments, request.output);
  if (arguments.flag("--no-reduce-inputs") && arguments.flag("--no-reduce-outputs")) {
    fail(ErrorCode::usage, "--no-reduce-inputs and --no-reduce-outputs exclude each other");
  }
  request.reduces_inputs = !arguments.flag("--no-reduce-inputs");
  request.reduces_outputs = !arguments.flag("--no-reduce-outputs");
  request.is_linear = arguments.value("--mode") == "linear";
  request.anonymizes = arguments.flag("--anonymize");
  request.shrinks = arguments.flag("--shrink");
  if (!arguments.has("--load-outputs")) return;
  if (request.anonymizes)
    fail(ErrorCode::usage, "--anonymize and --load-outputs exclude each other: saved results have the old names");
  if (request.shrinks)
    fail(ErrorCode::usage, "--shrink and --load-outputs exclude each other: saved results are of the old weights");
}

tasks::ReduceRequest reduce_request(const Arguments& arguments, Environment& environment) {
  tasks::ReduceRequest request;
  request.model = model_source(arguments.value("model_file"), arguments);
  read_goals(arguments, request);
  check_input_data(arguments);
  request.inputs = input_request(arguments);
  request.infers = !arguments.flag("--no-shape-inference");
  request.observes_types = arguments.flag("--force-fallback-shape-inference");
  request.shapes = parse_shapes(arguments);
  for (const std::string& word : arguments.values("--model-input-shapes")) {
    if (!arguments.has("--input-shapes") && !word.ends_with(":auto")) {
      request.inputs.generated.shapes.push_back(parse_input_shape("--model-input-shapes", word));
    }
  }
  request.comparison = comparison_request(arguments, environment.log);
  if (request.comparison.backend.empty()) {
    request.check = check_request(arguments, environment);
  } else {
    refuse_check(arguments);
    request.check = replay_request(arguments);
  }
  request.saves_what_passes = is_called_as_peer(environment);
  request.artifact = arguments.value("--intermediate-artifact");
  request.keeps_artifact = arguments.flag("--no-remove-intermediate");
  request.reproducer_text = [&arguments, &environment](const results::ReduceReport& report) {
    return report::reproducer_text(report, reproducing_words(arguments), environment.command_line, version_lines());
  };
  return request;
}

int finish(const results::ReduceReport& report, const Arguments& arguments, Environment& environment) {
  for (const std::string& line : report::reduce_lines(report)) environment.log.info(line);
  if (report.differs_in_values && has_default_tolerance(arguments)) environment.log.info(kDefaultToleranceHint);
  environment.log.finish(report::loop_summary(report.loop));
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  if (report.is_reproduced) return kExitEqual;
  const bool as_peer = is_called_as_peer(environment);
  environment.log.write(as_peer ? LogLevel::warning : LogLevel::error,
                        "the model does not fail: there is nothing to reduce");
  return as_peer ? kExitEqual : kExitDifferent;
}

int run_debug_reduce(const Arguments& arguments, Environment& environment) {
  const Stopwatch total;
  const std::string command = printable(environment.command_line);
  const tasks::ReduceRequest request = reduce_request(arguments, environment);
  require_writable_outputs(arguments);
  environment.log.start(fmt::format("RUNNING | Command: {}", command));
  LogObserver observer(arguments, environment);
  const int status = finish(tasks::debug_reduce(request, observer), arguments, environment);
  environment.log.verdict(status == kExitEqual,
                          fmt::format("{} | Runtime: {:.3f}s | Command: {}", status == kExitEqual ? "PASSED" : "FAILED",
                                      total.seconds(), command));
  return status;
}

OptionGroup reduce_group() {
  const auto flag = [](std::string_view name, std::string_view help) {
    return OptionRow{.names = {name}, .arity = Arity::flag, .help = help};
  };
  const auto file = [](std::vector<std::string_view> names, std::string_view help) {
    return OptionRow{.names = std::move(names), .metavar = "FILE", .help = help, .is_file = true, .is_output = true};
  };
  return {
      .title = "Reduction",
      .description = "What is searched for, and how",
      .rows = {file({"-o", "--output"}, "the smallest model that still fails"),
               file({"--min-good", "--minimal-good"}, "a model close to it that passes; there may be none"),
               {.names = {"--reproducer"},
                .metavar = "FOLDER",
                .help = "write the model, its inputs, expected outputs, the command and versions into a new folder",
                .is_output = true},
               {.names = {"--shrink"},
                .arity = Arity::flag,
                .help = "make what is left plainer as long as it fails: fewer outputs, operands and attributes, "
                        "smaller sizes, weights of one number, an older operator set",
                .details = "A check that feeds the model saved inputs, or compares it with saved outputs, fails for "
                           "its own reason then."},
               flag("--anonymize",
                    "give nodes, values and weights names and numbers that say nothing, as far as the model still "
                    "fails; a command's inputs and outputs keep their names"),
               {.names = {"--mode"},
                .choices = {"bisect", "linear"},
                .default_value = "bisect",
                .help = "halve what is left, or take one node after the other away",
                .details = "Halving takes about log2 of the number of nodes for each node that is needed."},
               flag("--no-reduce-inputs", "keep the model's inputs: only outputs move"),
               flag("--no-reduce-outputs", "keep the model's outputs: only inputs move"),
               {.names = {"--model-input-shapes", "--model-inputs"},
                .arity = Arity::one_or_more,
                .repeat = Repeat::append,
                .metavar = "NAME:[DIM,...]",
                .help = "shapes of the model's inputs, which are set before it is reduced"},
               flag("--no-shape-inference", "take types as the model declares them"),
               flag("--shape-inference", "accepted, without effect: types are inferred anyway"),
               no_onnxruntime_row(),
               fallback_inference_row()}};
}

}  // namespace

Command command_debug_reduce() {
  return {
      .path = "debug reduce",
      .summary = "find a smallest part of a model that still fails",
      .description =
          "Searches for the nodes that are needed for a failure: each model on the way is checked by a command, by "
          "you, or, where a backend is named, by comparing it with the reference, another backend or saved results, "
          "without a file. Values where the model is cut become inputs; what other branches give is frozen for a "
          "command, to the values of a run. No single node of the result can go, and it is checked once more. "
          "Exit status: 0 the result is written, 1 the model does not fail, and nothing is written, 2 wrong usage or "
          "input, 3 it could not be done.",
      .positionals = {model_positional()},
      .groups = search_groups(reduce_group(), {.replays = true, .artifact = "polygraphy_debug.onnx", .has_jobs = true}),
      .run = run_debug_reduce,
      .examples = {"assay debug reduce model.onnx -o reduced.onnx --onnxrt --against ref --atol 1e-3",
                   "assay debug reduce model.onnx -o reduced.onnx --load-inputs inputs.json --check assay run "
                   "polygraphy_debug.onnx --trt --load-inputs layerwise.json --load-outputs golden.json"},
      .exact_names = true};
}

}  // namespace assay::cli
