#include "cli/convert/int8.h"

#include "base/error.h"
#include "base/text.h"
#include "cli/convert/layers.h"
#include "cli/convert/trials.h"
#include "cli/options/groups/calibration.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

convert::QdqOptions parse_options(const Arguments& arguments) {
  convert::QdqOptions options;
  options.asymmetric = arguments.flag("--asymmetric");
  options.per_channel = !arguments.flag("--per-tensor");
  options.choice = layer_choice(arguments);
  for (std::string& layer : layers_without_integers(arguments)) options.choice.excluded.push_back(std::move(layer));
  return options;
}

std::optional<tasks::ErrorBound> error_bound(const Arguments& arguments) {
  if (!arguments.has("--max-error")) return std::nullopt;
  const std::string text = arguments.value("--max-error");
  const KeyValue parts = split_key_value(text);
  if (parts.key != "snr" && parts.key != "cosine") {
    fail(ErrorCode::usage, "--max-error: expected snr:DB or cosine:NUMBER, seen `{}`", printable(text));
  }
  return tasks::ErrorBound{parts.key == "snr", parse_number("--max-error", parts.value)};
}

void check_words(const Arguments& arguments) {
  static_cast<void>(error_bound(arguments));
  tasks::Int8Request unused;
  read_calibration(arguments, unused);
  check_input_data(arguments);
  static_cast<void>(layer_precisions(arguments));
  if (arguments.flag("--per-tensor") && arguments.flag("--per-channel")) {
    fail(ErrorCode::usage, "--per-tensor and --per-channel contradict each other: use one of them");
  }
  if (arguments.has("--save-statistics") && (arguments.has("--load-statistics") || arguments.has("--output"))) {
    fail(ErrorCode::usage,
         "--save-statistics writes statistics and nothing else: without --load-statistics and --output");
  }
  if (arguments.flag("--asymmetric") && arguments.has("--calibration-cache")) {
    fail(ErrorCode::usage, "--asymmetric needs both ends of each range, of which a calibration cache has none");
  }
}

OptionRow flag(std::string_view name, std::string_view help) {
  return {.names = {name}, .arity = Arity::flag, .help = help};
}

OptionGroup int8_group() {
  return {
      .title = "Int8",
      .description = "Layers that compute with integers, between QuantizeLinear and DequantizeLinear",
      .rows = {
          flag("--int8", "with an ONNX output: convert convolutions, matrix products, and the nodes between them"),
          {.names = {"--max-error"},
           .metavar = "snr:DB|cosine:C",
           .help = "leave layers float whose result, if they alone were rounded, would be worse than this"},
          {.names = {"--save-statistics"},
           .metavar = "FILE",
           .help = "convert nothing: write the distributions of values on these inputs, one part of all",
           .is_file = true},
          {.names = {"--load-statistics"},
           .arity = Arity::one_or_more,
           .metavar = "FILE",
           .help =
               "ranges from the distributions of all parts together; inputs are needed to choose among calibrations",
           .is_file = true},
          flag("--per-channel", "one scale for each output channel of a weight; this is the default"),
          flag("--per-tensor", "one scale for each weight; operator sets before 13 have no other"),
          flag(
              "--asymmetric",
              "with --int8, activations as uint8 with a zero point, which ONNX Runtime's CPU kernels run 3 to 10 times "
              "as fast; default: int8 around 0, as TensorRT needs it. With --weights, codes without a sign and a zero "
              "point beside each scale, which keep more of weights that are not even around 0")}};
}

}  // namespace

std::string_view int8_suffix(const Arguments& arguments, Target target) {
  check_trials(arguments);
  for (const std::string_view option : {"--save-statistics", "--load-statistics"}) {
    if (arguments.has(option) && !arguments.flag("--int8")) fail(ErrorCode::usage, "{} needs --int8", option);
  }
  if (target != Target::open && !arguments.flag("--int8") && arguments.has("--calibration-cache")) {
    fail(ErrorCode::usage, "--calibration-cache needs --int8");
  }
  const bool is_shifted = arguments.flag("--int8") || arguments.has("--weights");
  if (target != Target::open && arguments.flag("--asymmetric") && !is_shifted) {
    fail(ErrorCode::usage, "--asymmetric needs --int8 or --weights: floats have no zero point");
  }
  if (target == Target::open || !arguments.flag("--int8")) return {};
  check_words(arguments);
  return "int8";
}

std::vector<OptionGroup> int8_groups() { return {int8_group(), calibration_group(), trials_group()}; }

void request_int8(const Arguments& arguments, tasks::ConvertRequest& request) {
  tasks::Int8Request int8;
  int8.options = parse_options(arguments);
  int8.bound = error_bound(arguments);
  int8.statistics = arguments.values("--load-statistics");
  int8.trials = layer_trials(arguments);
  int8.reports_errors = arguments.flag("--report-error");
  read_calibration(arguments, int8);
  request.conversion = std::move(int8);
}

}  // namespace assay::cli
