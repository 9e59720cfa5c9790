#include "cli/options/groups/bench.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/bench_checks.h"
#include "cli/options/groups/calibration.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/trtexec.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

OptionRow number(std::vector<std::string_view> names, std::string_view metavar, std::string_view otherwise,
                 std::string_view help) {
  return {.names = std::move(names), .metavar = metavar, .default_value = otherwise, .help = help};
}

OptionRow flag(std::vector<std::string_view> names, std::string_view help) {
  return {.names = std::move(names), .arity = Arity::flag, .help = help};
}

OptionRow written(std::vector<std::string_view> names, std::string_view help) {
  return {.names = std::move(names), .metavar = "FILE", .help = help, .is_file = true, .is_output = true};
}

double milliseconds(const Arguments& arguments, std::string_view option) {
  return parse_number(option, arguments.value(option)) / 1e3;
}

// True if the text is a name and a file; a file whose name is the whole text comes first.
bool is_raw_input(const std::string& text) {
  std::error_code error;
  return text.find(':') != std::string::npos && !std::filesystem::exists(text, error);
}

void read_inputs(const Arguments& arguments, tasks::BenchRequest& request) {
  request.inputs = input_request(arguments);
  request.inputs.iterations = 1;
  request.inputs.files.clear();
  for (const std::string& text : arguments.values("--load-inputs")) {
    if (is_raw_input(text))
      request.raw_inputs.push_back(parse_raw_input("--load-inputs", text));
    else
      request.inputs.files.push_back(text);
  }
  for (const std::string& list : arguments.values("--loadInputs")) {
    for (const std::string_view text : split(list, ',')) {
      request.raw_inputs.push_back(parse_raw_input("--loadInputs", text));
    }
  }
  add_trtexec_shapes(arguments, request.inputs.generated.shapes);
}

void read_model(const Arguments& arguments, tasks::BenchRequest& request) {
  std::vector<std::string> given;
  for (const std::string_view name : {"model_file", "--onnx", "--load-engine"}) {
    if (arguments.has(name)) given.push_back(arguments.value(name));
  }
  if (given.empty()) fail(ErrorCode::usage, "missing MODEL");
  if (given.size() > 1) fail(ErrorCode::usage, "`{}` and `{}`: one model is measured", given[0], given[1]);
  tasks::ModelSource source = model_source(given[0], arguments);
  if (arguments.has("--load-engine") || tasks::is_engine_file(source))
    request.plan = given[0];
  else
    request.model = std::move(source);
}

void read_backends(const Arguments& arguments, tasks::BenchRequest& request) {
  const std::vector<std::string> chosen = chosen_backends(arguments);
  if (!chosen.empty()) {
    request.backend = chosen[0];
    request.rivals.assign(chosen.begin() + 1, chosen.end());
  }
  const std::map<std::string, std::string> words = peer_words();
  for (const std::string& list : arguments.values("--against")) {
    for (const std::string_view rival : split(list, ',')) {
      const auto called = std::ranges::find(words, rival, &std::pair<const std::string, std::string>::second);
      request.rivals.push_back(called == words.end() ? std::string(rival) : called->first);
    }
  }
}

std::vector<double> percentiles(const Arguments& arguments) {
  std::vector<double> numbers;
  const std::string list = arguments.value("--percentile");
  for (const std::string_view p : split(list, ',')) numbers.push_back(parse_number("--percentile", p));
  return numbers;
}

// Copies of the backend, with so many streams each.
void read_devices(const Arguments& arguments, tasks::BenchRequest& request) {
  if (!arguments.has("--devices")) return;
  if (arguments.has("--device")) fail(ErrorCode::usage, "--devices and --device: expected one of them");
  const std::string list = arguments.value("--devices");
  for (const std::string_view device : split(list, ',')) request.devices.emplace_back(device);
  if (request.devices.size() < 2)
    fail(ErrorCode::usage, "--devices: expected two at least, seen `{}`; --device names one", printable(list));
  request.backend += fmt::format(":each:{}", request.devices.size());
  request.session.settings.set("device", {list});
  request.streams *= static_cast<unsigned>(request.devices.size());
}

}  // namespace

OptionGroup bench_group() {
  return {
      .title = "Measurement",
      .description = "What is measured, and for how long; trtexec's names are understood",
      .rows = {{.names = {"--onnx"}, .metavar = "FILE", .help = "the model, as trtexec has it", .is_file = true},
               {.names = {"--load-engine", "--loadEngine"},
                .metavar = "FILE",
                .help = "a plan that the backend saved, instead of a model",
                .is_file = true},
               {.names = {"--against"},
                .repeat = Repeat::append,
                .metavar = "BACKEND,...",
                .help = "rivals, measured in turns with the backend: onnxrt, openvino, ref, engine, or with settings "
                        "that are on, engine:bf16"},
               number({"--fail-if-slower-than"}, "RATIO", "",
                      "exit with 1 if the backend's median is more than RATIO times a rival's"),
               number({"--duration"}, "SECONDS", "3", "measure for so long at least, for each backend"),
               number({"--iterations", "--iters", "--iteration"}, "N", "10", "and so many runs at least"),
               number({"--warm-up", "--warmUp", "--warmup"}, "MS", "200", "run for so long before"),
               number({"--idle-time", "--idleTime"}, "MS", "0", "sleep between two runs"),
               number({"--sleep-time", "--sleepTime"}, "MS", "0", "sleep before the first run that is timed"),
               number({"--streams", "--infStreams"}, "N", "1",
                      "contexts that run at once, each with a thread of its own and its share of --threads"),
               {.names = {"--devices"},
                .metavar = "DEVICE,...",
                .help = "copies of the model on these devices, which do not share work: so many --streams on each, as "
                        "cuda:0,cuda:1 or, in groups of threads, cpu,cpu; the throughput is that of all"},
               {.names = {"--no-transfers", "--noDataTransfers"},
                .arity = Arity::flag,
                .help = "leave inputs and outputs on the engine's device; without effect on the processor"},
               {.names = {"--skip-inference", "--skipInference", "--buildOnly"},
                .arity = Arity::flag,
                .help = "end when the engine is built, and saved if --save-engine names a file"},
               {.names = {"--batches"},
                .metavar = "N,...",
                .help =
                    "measure for each of these sizes of the first dim, where the model leaves it open, and show how "
                    "the time grows"},
               {.names = {"--sweep"},
                .arity = Arity::one_or_more,
                .metavar = "NAME:1x3,...",
                .help = "the same for each of these sets of shapes"},
               {.names = {"--shapes"},
                .repeat = Repeat::append,
                .metavar = "NAME:1x3,...",
                .help = "shapes of inputs, as trtexec has them; --input-shapes is the same"},
               {.names = {"--loadInputs"},
                .repeat = Repeat::append,
                .metavar = "NAME:FILE,...",
                .help = "inputs from files that hold their elements, little-endian, and nothing else"}},
  };
}

OptionGroup bench_output_group() {
  return {
      .title = "Results",
      .description = "What is printed and saved; exported files have trtexec's form",
      .rows = {number({"--percentile"}, "P,...", "90,95,99", "percentiles that are printed, from 0 to 100"),
               number({"--avg-runs", "--avgRuns"}, "N", "10", "runs whose average is one line of the trace"),
               flag({"--dump-output", "--dumpOutput"}, "print the outputs"),
               flag({"--dump-profile", "--dumpProfile"}, "print the time of each layer, measured in runs of their own"),
               flag({"--dump-layer-info", "--dumpLayerInfo"}, "print the names of the layers"),
               written({"--export-times", "--exportTimes"}, "write the times of every run as JSON"),
               written({"--export-output", "--exportOutput"}, "write the outputs as JSON"),
               {.names = {"--save-debug-tensors", "--saveDebugTensors"},
                .repeat = Repeat::append,
                .metavar = "NAME:FILE,...",
                .help = "write the elements of values of --mark-debug, little-endian, and nothing else"},
               written({"--export-profile", "--exportProfile"}, "write the time of each layer as JSON"),
               written({"--export-layer-info", "--exportLayerInfo"}, "write the names of the layers as JSON"),
               written({"--report"}, "write a page with the statistics and the distribution of the times"),
               flag({"--with-samples"}, "let the report of --json hold every run")},
  };
}

std::vector<tasks::RawInput> saved_debug_values(const Arguments& arguments) {
  std::vector<tasks::RawInput> files;
  for (const std::string& list : arguments.values("--save-debug-tensors")) {
    for (const std::string_view text : split(list, ',')) {
      files.push_back(parse_raw_input("--save-debug-tensors", text));
    }
  }
  return files;
}

tasks::BenchRequest bench_request(const Arguments& arguments) {
  tasks::BenchRequest request;
  read_model(arguments, request);
  read_backends(arguments, request);
  read_inputs(arguments, request);
  request.integers = engine_integers(arguments);
  request.session = session_options(arguments);
  read_trtexec_builder(arguments, request.session.settings);
  if (request.session.settings.has("mark-debug")) request.session.values = request.session.settings.list("mark-debug");
  request.save_plan = request.session.settings.text("save-engine");
  request.session.settings.erase("save-engine");
  request.only_builds = arguments.flag("--skip-inference");
  request.streams = static_cast<unsigned>(std::min<uint64_t>(parse_count("--streams", arguments.value("--streams"), 1),
                                                             std::numeric_limits<unsigned>::max()));
  read_devices(arguments, request);
  request.warm_up_seconds = milliseconds(arguments, "--warm-up");
  request.idle_seconds = milliseconds(arguments, "--idle-time");
  request.sleep_seconds = milliseconds(arguments, "--sleep-time");
  request.duration_seconds = parse_number("--duration", arguments.value("--duration"));
  request.iterations = parse_count("--iterations", arguments.value("--iterations"), 1);
  if (request.duration_seconds == 0 && !arguments.has("--iterations")) {
    fail(ErrorCode::usage, "--duration: 0 seconds need --iterations, the number of runs");
  }
  request.percentiles = percentiles(arguments);
  const auto has_any = [&](auto... names) { return (arguments.has(names) || ...); };
  request.profiles = has_any("--dump-profile", "--export-profile", "--dump-layer-info", "--export-layer-info");
  request.keeps_on_device = arguments.has("--no-transfers");
  request.keeps_outputs =
      has_any("--dump-output", "--export-output", "--export-layer-info", "--dump-layer-info", "--save-debug-tensors",
              "--dump-raw-bindings", "--save-all-debug-tensors", "--mark-unfused");
  read_bench_checks(arguments, request);
  for (const tasks::RawInput& file : saved_debug_values(arguments)) {
    if (std::ranges::find(request.session.values, file.name) != request.session.values.end()) continue;
    fail(ErrorCode::usage, "--save-debug-tensors: `{}` is not marked (--mark-debug)", printable(file.name));
  }
  tasks::check_bench(request);
  return request;
}

}  // namespace assay::cli
