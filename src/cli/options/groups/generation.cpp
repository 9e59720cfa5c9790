#include "cli/options/groups/generation.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

constexpr std::string_view kFirst = "first";
constexpr std::string_view kSaved = "saved";

size_t teacher_side(const std::string& word, const std::vector<std::string>& backends, bool has_saved) {
  if (word == kFirst) return 0;
  if (word == kSaved && has_saved) return backends.size();
  const auto found = std::ranges::find(backends, word == "trt" ? "engine" : word);
  if (found != backends.end()) return static_cast<size_t>(found - backends.begin());
  fail(ErrorCode::usage, "--teacher: `{}` is none of the sides: {}", printable(word), join(backends, ", "));
}

}  // namespace

OptionGroup generation_group() {
  return {
      .title = "Generation",
      .description = "Tokens that a model generates, each step fed by the one before (docs/generations.md)",
      .rows = {
          {.names = {"--decode"},
           .metavar = "N",
           .help = "generate N tokens on every side and compare them step by step, instead of single runs"},
          {.names = {"--teacher"},
           .metavar = "SIDE",
           .help = "with --decode: all sides read the tokens that this side chooses, a backend, `first`, or `saved` "
                   "of --load-outputs; default: each reads its own"},
          {.names = {"--prompt-model"},
           .metavar = "MODEL",
           .help = "with --decode: the model that reads the prompt, where the other file makes the steps "
                   "behind it",
           .is_file = true},
          {.names = {"--feed"},
           .arity = Arity::one_or_more,
           .repeat = Repeat::append,
           .metavar = "OUT=IN",
           .help = "with --decode: the output that becomes an input of the next step, where names, shapes and "
                   "the graph do not tell; for the input of token ids, the output of the logits"}}};
}

std::optional<tasks::GenerationRequest> generation_request(const Arguments& arguments,
                                                           const std::vector<std::string>& backends) {
  if (!arguments.has("--decode")) {
    for (const std::string_view option : {"--teacher", "--feed", "--prompt-model"}) {
      if (arguments.has(option)) fail(ErrorCode::usage, "{} needs --decode", option);
    }
    return std::nullopt;
  }
  tasks::GenerationRequest request;
  request.steps = parse_count("--decode", arguments.value("--decode"), 1);
  if (backends.empty()) fail(ErrorCode::usage, "--decode needs a backend: --onnxrt, --engine, ...");
  request.prompt_model = arguments.value("--prompt-model");
  if (arguments.has("--teacher"))
    request.teacher = teacher_side(arguments.value("--teacher"), backends, arguments.has("--load-outputs"));
  for (const std::string& pair : arguments.values("--feed")) {
    const size_t at = pair.find('=');
    const bool is_pair = at != std::string::npos && at > 0 && at + 1 < pair.size();
    if (!is_pair) fail(ErrorCode::usage, "--feed: expected OUT=IN, seen `{}`", printable(pair));
    request.feeds.emplace_back(pair.substr(0, at), pair.substr(at + 1));
  }
  constexpr std::string_view kOthers[] = {"--iterations",
                                          "--warm-up",
                                          "--jobs",
                                          "--validate",
                                          "--check-average",
                                          "--postprocess",
                                          "--postprocess-func-script",
                                          "--compare-func-script",
                                          "--gen-script",
                                          "--onnx-outputs",
                                          "--onnx-outputs-by-type",
                                          "--onnx-exclude-outputs",
                                          "--trt-outputs",
                                          "--trt-outputs-by-type",
                                          "--trt-exclude-outputs",
                                          "--save-heatmaps",
                                          "--show-heatmaps",
                                          "--save-error-metrics-plot",
                                          "--show-error-metrics-plot",
                                          "--save-accuracy-results",
                                          "--save-input-blob",
                                          "--tolerance",
                                          "--atol",
                                          "--rtol",
                                          "--match"};
  for (const std::string_view option : kOthers) {
    if (arguments.knows(option) && arguments.has(option))
      fail(ErrorCode::usage, "{} cannot be used with --decode", option);
  }
  return request;
}

}  // namespace assay::cli
