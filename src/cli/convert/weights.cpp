#include "cli/convert/weights.h"

#include <bit>

#include "base/error.h"
#include "cli/convert/layers.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

bool is_int4(const Arguments& arguments) { return arguments.value("--weights") == "int4"; }

// Without a word: a scale for each channel of int8, which every operator set from 13 on has; blocks elsewhere.
uint64_t block_size(const Arguments& arguments, bool is_nbits) {
  constexpr uint64_t kUsual = 32;
  constexpr int64_t kLeast = 16;
  constexpr int64_t kMost = 65536;
  if (!arguments.has("--block-size")) return is_int4(arguments) || is_nbits ? kUsual : 0;
  const int64_t size = parse_integer("--block-size", arguments.value("--block-size"));
  const bool is_power = size >= kLeast && size <= kMost && std::has_single_bit(static_cast<uint64_t>(size));
  if (!is_power && (size != 0 || is_nbits)) {
    fail(ErrorCode::usage, "--block-size: expected a power of two from {} to {}{}, seen {}", kLeast, kMost,
         is_nbits ? "" : ", or 0 for whole channels", size);
  }
  return static_cast<uint64_t>(size);
}

convert::WeightOptions weight_sizes(const Arguments& arguments, bool is_nbits) {
  convert::WeightOptions options;
  options.bits = is_int4(arguments) ? 4 : 8;
  options.block_size = block_size(arguments, is_nbits);
  return options;
}

OptionRow weights_row() {
  return {.names = {"--weights"},
          .choices = {"int8", "int4"},
          .help = "compress the weights of convolutions (int8) and matrix products"};
}

OptionRow block_size_row() {
  return {.names = {"--block-size"},
          .metavar = "N",
          .help = "numbers that share a scale, 0: whole output channels; default: 0 for int8, else 32"};
}

convert::WeightOptions parse_options(const Arguments& arguments) {
  const bool is_nbits = arguments.value("--weights-form") == "matmulnbits";
  convert::WeightOptions options = weight_sizes(arguments, is_nbits);
  options.asymmetric = arguments.flag("--asymmetric");
  options.form = is_nbits ? convert::WeightForm::matmulnbits : convert::WeightForm::dequantize;
  options.choice = layer_choice(arguments);
  for (std::string& layer : layers_without_integers(arguments)) options.choice.excluded.push_back(std::move(layer));
  return options;
}

}  // namespace

OptionGroup engine_weights_group() {
  return {.title = "Weights of Engines",
          .description = "What the built-in engine runs instead of the model",
          .rows = {weights_row(), block_size_row()}};
}

tasks::WeightsRequest weights_request(const Arguments& arguments) {
  tasks::WeightsRequest request{.options = weight_sizes(arguments, false), .backend = {}};
  request.options.form = convert::WeightForm::either;
  return request;
}

std::string_view weights_suffix(const Arguments& arguments, Target) {
  if (!arguments.has("--weights")) return {};
  static_cast<void>(parse_options(arguments));
  return is_int4(arguments) ? "weights-int4" : "weights-int8";
}

std::vector<OptionGroup> weights_groups() {
  return {{.title = "Weights",
           .description = "Weights alone as small integers; the layers go on computing with floats",
           .rows = {weights_row(),
                    block_size_row(),
                    {.names = {"--weights-form"},
                     .choices = {"dequantize", "matmulnbits"},
                     .default_value = "dequantize",
                     .help = "DequantizeLinear, which blocks and int4 need operator set 21 for, or ONNX Runtime's own "
                             "MatMulNBits; engines take either"}}}};
}

void request_weights(const Arguments& arguments, tasks::ConvertRequest& request) {
  convert::WeightOptions options = parse_options(arguments);
  // Readers of a plan have no use for the operators in between.
  if (request.builds_plan && !arguments.has("--weights-form")) options.form = convert::WeightForm::either;
  request.conversion = tasks::WeightsRequest{.options = std::move(options),
                                             .reports_errors = arguments.flag("--report-error"),
                                             .backend = arguments.value("--calibrate-with")};
}

}  // namespace assay::cli
