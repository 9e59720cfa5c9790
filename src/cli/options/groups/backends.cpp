#include "cli/options/groups/backends.h"

#include <algorithm>
#include <array>
#include <thread>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "cli/options/groups/engine.h"
#include "cli/options/values.h"
#include "tasks/check.h"

namespace assay::cli {
namespace {

// The flags that choose a backend; those without a name are recognised and refused.
struct BackendFlag {
  std::string_view option;
  std::string_view backend;
  std::string_view refusal;
};

constexpr std::array kFlags = {BackendFlag{"--ref", "ref", ""},        BackendFlag{"--ref-fp64", "ref-fp64", ""},
                               BackendFlag{"--onnxrt", "onnxrt", ""},  BackendFlag{"--openvino", "openvino", ""},
                               BackendFlag{"--engine", "", kNoEngine}, BackendFlag{"--trt-engine", "", kNoEngine},
                               BackendFlag{"--tf", "", kNoTensorFlow}};

OptionRow flag(std::vector<std::string_view> names, std::string_view help, bool hidden = false) {
  return {.names = std::move(names), .arity = Arity::flag, .repeat = Repeat::count, .help = help, .hidden = hidden};
}

}  // namespace

OptionGroup backend_group() {
  return {
      .title = "Backends",
      .description = "What runs the model; each may be named as often as wanted, in any order",
      .rows = {flag({"--ref", "--pluginref"}, "the reference interpreter: every operator, in plain loops"),
               flag({"--ref-fp64"}, "the same with every floating value carried in double from end to end"),
               flag({"--onnxrt"}, "ONNX Runtime, from the user's Python package or the system"),
               flag({"--openvino"}, "OpenVINO, from the user's Python package or the system"),
               flag({"--engine", "--trt"}, "the built-in engine", true),
               {.names = {"--trt-engine"}, .metavar = "FILE", .help = "a built engine", .hidden = true},
               flag({"--tf"}, "TensorFlow", true),
               {.names = {"--python"},
                .metavar = "FILE",
                .help = "the Python whose packages are used and that runs the user's scripts; default: the first "
                        "python3 on PATH",
                .is_file = true}},
  };
}

std::vector<std::string> chosen_backends(const Arguments& arguments) {
  std::vector<std::string> names;
  for (const Arguments::Occurrence& use : arguments.in_order()) {
    const std::string_view name = canonical_name(*use.row);
    const auto chosen = std::ranges::find(kFlags, name, &BackendFlag::option);
    if (chosen == kFlags.end()) continue;
    if (!chosen->refusal.empty()) fail(ErrorCode::unsupported, "`{}`: {}", name, chosen->refusal);
    names.emplace_back(chosen->backend);
  }
  return names;
}

exec::LibrarySearch library_search(const Arguments& arguments) {
  exec::LibrarySearch search;
  if (!arguments.knows("--python") || !arguments.has("--python")) return search;
  search.python = arguments.value("--python");
  if (tasks::find_python(search.python).empty()) {
    fail(ErrorCode::usage, "--python: there is no Python `{}`", printable(search.python));
  }
  return search;
}

OptionGroup onnxrt_group() {
  return {
      .title = "ONNX Runtime",
      .description = "How ONNX Runtime is set up",
      .rows = {{.names = {"--providers", "--execution-providers"},
                .arity = Arity::one_or_more,
                .help = "execution providers, the first wish first; a part of a name is enough; default: cpu"},
               {.names = {"--graph-optimization-level"},
                .choices = {"ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL"},
                .help = "how far ONNX Runtime may rewrite the model; default: its own"}},
  };
}

OptionGroup limits_group() {
  return {
      .title = "Limits",
      .description = "What a run may take",
      .rows = {{.names = {"--threads"}, .metavar = "N", .help = "threads that work; default: the cores it may use"},
               {.names = {"--max-memory"},
                .metavar = "SIZE",
                .help = "most memory that values may take, as 512M or 8G; default: half of what is available"},
               {.names = {"--max-steps"},
                .metavar = "N",
                .help = "most iterations of loops and calls of functions in a run of the reference; default: ten "
                        "million, a million in `check lint`"},
               {.names = {"--max-work"},
                .metavar = "N",
                .help = "most elements and multiply-accumulates in a run of the reference; default: ten trillion, a "
                        "hundred billion in `check lint`"}},
  };
}

exec::SessionOptions session_options(const Arguments& arguments) {
  exec::SessionOptions options;
  if (arguments.has("--threads")) {
    const uint64_t threads = parse_count("--threads", arguments.value("--threads"), 1);
    const uint64_t most = std::max(64U, 4 * std::thread::hardware_concurrency());
    if (threads > most) fail(ErrorCode::usage, "--threads must be at most {} on this machine, seen {}", most, threads);
    set_thread_count(static_cast<unsigned>(threads));
  }
  if (arguments.has("--max-memory")) {
    options.max_memory_bytes = parse_size("--max-memory", arguments.value("--max-memory"));
  }
  if (arguments.has("--max-steps")) options.max_steps = parse_count("--max-steps", arguments.value("--max-steps"), 1);
  if (arguments.has("--max-work")) options.max_work = parse_count("--max-work", arguments.value("--max-work"), 1);
  options.search = library_search(arguments);
  if (arguments.knows("--providers")) {
    options.providers = arguments.values("--providers");
    options.optimization_level = arguments.value("--graph-optimization-level");
  }
  return options;
}

}  // namespace assay::cli
