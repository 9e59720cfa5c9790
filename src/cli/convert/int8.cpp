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
  options.codes = arguments.flag("--fp8")          ? convert::QdqCodes::float8
                  : arguments.flag("--asymmetric") ? convert::QdqCodes::uint8
                                                   : convert::QdqCodes::int8;
  options.operands_only = arguments.flag("--operands-only");
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

// Refuses what codes of float8 do not have.
void check_float8(const Arguments& arguments) {
  if (arguments.flag("--int8")) fail(ErrorCode::usage, "--int8 and --fp8: choose one of them");
  const std::string calibration = arguments.value("--calibration");
  if (calibration == "mse" || calibration == "entropy")
    fail(ErrorCode::usage, "--calibration {}: it is about codes of equal steps, which float8 does not have",
         calibration);
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
  if (arguments.flag("--fp8")) check_float8(arguments);
  if (arguments.has("--save-statistics") && (arguments.has("--load-statistics") || arguments.has("--output"))) {
    fail(ErrorCode::usage,
         "--save-statistics writes statistics and nothing else: without --load-statistics and --output");
  }
  if (arguments.flag("--asymmetric") && arguments.has("--calibration-cache")) {
    fail(ErrorCode::usage, "--asymmetric needs both ends of each range, of which a calibration cache has none");
  }
}

// The reference measures unless another is named: ONNX Runtime 1.31 merges products of float8 into operators that do
// not take it.
void choose_for_float8(tasks::Int8Request& request) {
  if (request.backend.empty()) request.backend = "ref";
  if (request.calibrations.size() == 1) return;
  request.calibration = "minmax";
  request.calibrations = {calibrate::Calibration::minmax};
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
          flag("--fp8",
               "with an ONNX output: round the operands of convolutions and matrix products to float8e4m3fn, which "
               "operator set 19 has; of engines, a permission"),
          {.names = {"--max-error"},
           .metavar = "snr:DB|cosine:C",
           .help = "leave layers float whose result, if they alone were rounded, would be worse than this"},
          flag("--operands-only",
               "with --int8: round what convolutions and matrix products read, and nothing else, as --fp8 always does: "
               "more exact, and what TensorRT merges; ONNX Runtime's integer kernels need rounded results, too"),
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
  const bool is_float8 = arguments.flag("--fp8") && target == Target::onnx;
  const bool is_at_home = arguments.flag("--int8") || is_float8;
  for (const std::string_view option : {"--save-statistics", "--load-statistics"}) {
    if (arguments.has(option) && !is_at_home) fail(ErrorCode::usage, "{} needs --int8 or --fp8", option);
  }
  if (target != Target::open && !arguments.flag("--int8") && arguments.has("--calibration-cache")) {
    fail(ErrorCode::usage, "--calibration-cache needs --int8");
  }
  if (target != Target::open && arguments.flag("--operands-only") && !is_at_home)
    fail(ErrorCode::usage, "--operands-only needs --int8");
  const bool is_shifted = arguments.flag("--int8") || arguments.has("--weights");
  if (target != Target::open && arguments.flag("--asymmetric") && !is_shifted) {
    fail(ErrorCode::usage, "--asymmetric needs --int8 or --weights: floats have no zero point");
  }
  if (target == Target::open || !is_at_home) return {};
  check_words(arguments);
  return is_float8 ? "fp8" : "int8";
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
  if (int8.options.codes == convert::QdqCodes::float8) choose_for_float8(int8);
  request.conversion = std::move(int8);
}

}  // namespace assay::cli
