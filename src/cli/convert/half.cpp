#include "cli/convert/half.h"

#include "base/error.h"
#include "base/text.h"
#include "cli/convert/layers.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

using tensor::DType;

// Undefined: no conversion is asked for.
DType asked_half(const Arguments& arguments, Target target) {
  const auto asks = [&](std::string_view always, std::string_view with_onnx) {
    return arguments.flag(always) || (target == Target::onnx && arguments.flag(with_onnx));
  };
  const bool float16 = asks("--fp-to-fp16", "--fp16");
  const bool bfloat16 = asks("--fp-to-bf16", "--bf16");
  if (float16 && bfloat16) fail(ErrorCode::usage, "float16 and bfloat16 are both requested: use one of them");
  return float16 ? DType::float16 : bfloat16 ? DType::bfloat16 : DType::undefined;
}

// Inputs that only errors are reported with decide nothing.
bool measures_ranges(const Arguments& arguments) {
  return arguments.flag("--measure") || (has_input_data(arguments) && !arguments.flag("--report-error"));
}

double margin(const Arguments& arguments) {
  const double number = parse_number("--margin", arguments.value("--margin"));
  if (!(number > 0 && number <= 1)) fail(ErrorCode::usage, "--margin: expected a share in (0, 1], seen {}", number);
  return number;
}

convert::HalfOptions parse_options(const Arguments& arguments, DType half) {
  convert::HalfOptions options;
  options.half = half;
  options.keeps_interface = !arguments.flag("--no-keep-io-types");
  const bool clamps = arguments.value("--fp16-overflow") == "clamp";
  options.overflow = clamps ? convert::HalfOverflow::clamp : convert::HalfOverflow::keep;
  options.choice = layer_choice(arguments);
  for (LayerPrecision& layer : layer_precisions(arguments)) {
    const bool is_kept = layer.dtype == DType::float32;
    if (!is_kept && layer.dtype != half) {
      fail(ErrorCode::usage, "layer `{}` is to be {}, but the model is converted to {}", printable(layer.layer),
           tensor::name(layer.dtype), tensor::name(half));
    }
    (is_kept ? options.choice.excluded : options.forced).push_back(std::move(layer.layer));
  }
  return options;
}

void check_measuring(const Arguments& arguments, const convert::HalfOptions& options) {
  static_cast<void>(margin(arguments));
  check_input_data(arguments);
  const bool is_run = measures_ranges(arguments) || arguments.flag("--report-error");
  if (is_run && !options.keeps_interface) {
    fail(ErrorCode::usage, "errors cannot be measured with --no-keep-io-types: both models need the same inputs");
  }
}

OptionRow flag(std::string_view name, std::string_view help) {
  return {.names = {name}, .arity = Arity::flag, .help = help};
}

OptionGroup half_group() {
  return {
      .title = "16-bit Floats",
      .description = "Conversion of float32 values and weights; float64 stays",
      .rows =
          {flag("--fp-to-fp16", "convert to float16"),
           flag("--fp-to-bf16", "convert to bfloat16"),
           flag("--fp16", "with an ONNX output the same as --fp-to-fp16"),
           flag("--bf16", "with an ONNX output the same as --fp-to-bf16"),
           flag("--no-keep-io-types", "convert the model's inputs and outputs too, instead of adding Casts after them"),
           {.names = {"--fp16-overflow"},
            .choices = {"keep-f32", "clamp"},
            .default_value = "keep-f32",
            .help =
                "numbers of weights that 16 bits cannot hold, or that they make 0: leave the nodes in float32, or use "
                "the largest and the smallest number"},
           flag("--measure",
                "run the model, and leave nodes in float32 whose values 16 bits cannot hold; also done where "
                "inputs are given without --report-error"),
           {.names = {"--margin"},
            .metavar = "SHARE",
            .default_value = "0.5",
            .help = "with --measure: values may reach this share of the largest number"},
           {.names = {"--measure-with"},
            .metavar = "BACKEND",
            .default_value = "ref",
            .help = "what runs the model to measure: ref, onnxrt or openvino"},
           flag("--report-error",
                "run the model before and after, and report the error of each layer; does not change what is "
                "converted")},
  };
}

}  // namespace

std::string_view half_suffix(const Arguments& arguments, Target target) {
  const DType half = asked_half(arguments, target);
  if (half == DType::undefined) return {};
  check_measuring(arguments, parse_options(arguments, half));
  return half == DType::float16 ? "fp16" : "bf16";
}

std::vector<OptionGroup> half_groups() { return {half_group(), layer_group(), input_data_group()}; }

void request_half(const Arguments& arguments, tasks::ConvertRequest& request) {
  const Target target = request.builds_plan ? Target::engine : Target::onnx;
  request.conversion = tasks::HalfRequest{.options = parse_options(arguments, asked_half(arguments, target)),
                                          .measures_ranges = measures_ranges(arguments),
                                          .margin = margin(arguments),
                                          .reports_errors = arguments.flag("--report-error"),
                                          .backend = arguments.value("--measure-with")};
}

}  // namespace assay::cli
