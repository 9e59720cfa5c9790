#include "cli/options/groups/running.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

constexpr std::array<std::string_view, 2> kBackends = {"--ref", "--ref-fp64"};
// Recognised, so that they are refused with a reason.
struct AbsentBackend {
  std::string_view option;
  std::string_view name;
};
constexpr std::array kAbsent = {AbsentBackend{"--onnxrt", "the ONNX Runtime backend"},
                                AbsentBackend{"--openvino", "the OpenVINO backend"},
                                AbsentBackend{"--engine", "the built-in engine"}};

uint64_t positive(std::string_view option, const std::string& text) {
  const int64_t number = parse_integer(option, text);
  if (number <= 0) fail(ErrorCode::usage, "{} must be positive, seen `{}`", option, printable(text));
  return static_cast<uint64_t>(number);
}

}  // namespace

OptionGroup backend_group() {
  return {
      .title = "Backends",
      .description = "What runs the model, in the order given, each as often as wanted",
      .rows = {{.names = {"--ref", "--pluginref"},
                .arity = Arity::flag,
                .repeat = Repeat::count,
                .help = "the reference interpreter: every operator computed in double and rounded once"},
               {.names = {"--ref-fp64"},
                .arity = Arity::flag,
                .repeat = Repeat::count,
                .help = "the same with every floating value carried in double from end to end"},
               {.names = {"--onnxrt"}, .arity = Arity::flag, .help = "ONNX Runtime", .hidden = true},
               {.names = {"--openvino"}, .arity = Arity::flag, .help = "OpenVINO", .hidden = true},
               {.names = {"--engine", "--trt"}, .arity = Arity::flag, .help = "the built-in engine", .hidden = true}},
  };
}

std::vector<std::string> chosen_backends(const Arguments& arguments) {
  std::vector<std::string> names;
  for (const Arguments::Occurrence& use : arguments.in_order()) {
    const std::string_view name = canonical_name(*use.row);
    const auto absent = std::ranges::find(kAbsent, name, &AbsentBackend::option);
    if (absent != kAbsent.end()) {
      fail(ErrorCode::unsupported, "`{}`: {} is not part of this build", name, absent->name);
    }
    if (std::ranges::find(kBackends, name) != kBackends.end()) names.emplace_back(name.substr(2));
  }
  return names;
}

OptionGroup data_group() {
  return {
      .title = "Data Loader",
      .description = "The inputs that are made up: floats in [0, 1), integers 0 or 1",
      .rows = {{.names = {"--seed"}, .default_value = "1", .help = "seed of the made-up inputs"},
               {.names = {"--input-shapes", "--inputs"},
                .arity = Arity::one_or_more,
                .repeat = Repeat::append,
                .metavar = "NAME:[DIM,...]",
                .help = "shapes of inputs whose dims the model leaves open; names may be wildcards"}},
  };
}

exec::GenerateOptions generate_options(const Arguments& arguments) {
  exec::GenerateOptions options;
  const int64_t seed = parse_integer("--seed", arguments.value("--seed"));
  if (seed < 0 || seed > std::numeric_limits<uint32_t>::max()) {
    fail(ErrorCode::usage, "--seed must be between 0 and 4294967295, seen {}", seed);
  }
  options.seed = static_cast<uint64_t>(seed);
  if (arguments.has("--max-memory")) options.max_bytes = parse_size("--max-memory", arguments.value("--max-memory"));
  for (const std::string& text : arguments.values("--input-shapes")) {
    options.shapes.push_back(parse_input_shape("--input-shapes", text));
  }
  return options;
}

OptionGroup limits_group() {
  return {
      .title = "Limits",
      .description = "What a run may take",
      .rows = {{.names = {"--threads"}, .metavar = "N", .help = "threads that work; default: the cores it may use"},
               {.names = {"--max-memory"},
                .metavar = "SIZE",
                .help = "most memory that values may take, as 512M or 8G; default: that of the machine"},
               {.names = {"--max-steps"}, .metavar = "N", .help = "most iterations of one Loop; default: ten million"}},
  };
}

exec::SessionOptions session_options(const Arguments& arguments) {
  exec::SessionOptions options;
  if (arguments.has("--threads")) {
    set_thread_count(
        static_cast<unsigned>(std::min<uint64_t>(positive("--threads", arguments.value("--threads")), 1024)));
  }
  if (arguments.has("--max-memory")) {
    options.max_memory_bytes = parse_size("--max-memory", arguments.value("--max-memory"));
  }
  if (arguments.has("--max-steps")) options.max_steps = positive("--max-steps", arguments.value("--max-steps"));
  return options;
}

void require_runnable(const LoadedModel& loaded) {
  for (const Diagnostic& finding : loaded.findings.all()) {
    if (finding.severity != Severity::error) continue;
    const size_t more = loaded.findings.error_count() - 1;
    fail(ErrorCode::parse, "the model cannot be run: {}{}{}{} (`check lint` lists everything)", finding.node,
         finding.node.empty() ? "" : ": ", finding.message, more ? fmt::format(", and {} more", more) : "");
  }
}

}  // namespace assay::cli
