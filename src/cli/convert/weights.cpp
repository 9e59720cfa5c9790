#include "cli/convert/weights.h"

#include <array>
#include <bit>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "cli/convert/layers.h"
#include "cli/convert/trials.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

constexpr std::array kTypes = {
    std::pair("fp8", convert::WeightType::fp8), std::pair("nvfp4", convert::WeightType::nvfp4),
    std::pair("mxfp4", convert::WeightType::mxfp4), std::pair("nf4", convert::WeightType::nf4)};
constexpr std::array kAlgorithms = {std::pair("rtn", convert::WeightAlgorithm::rtn),
                                    std::pair("awq", convert::WeightAlgorithm::awq),
                                    std::pair("gptq", convert::WeightAlgorithm::gptq)};

bool is_int4(const Arguments& arguments) { return arguments.value("--weights") == "int4"; }

convert::WeightType weight_type(const Arguments& arguments) {
  for (const auto& [word, type] : kTypes) {
    if (arguments.value("--weights") == word) return type;
  }
  return convert::WeightType::integer;
}

// Blocks that a type has by definition; 0: as the user likes.
uint64_t own_block_size(convert::WeightType type) {
  if (type == convert::WeightType::nvfp4) return 16;
  return type == convert::WeightType::mxfp4 ? 32 : 0;
}

// Without a word: a scale for each channel of int8 and fp8, which older operator sets have; blocks elsewhere.
uint64_t block_size(const Arguments& arguments, bool is_nbits) {
  constexpr uint64_t kUsual = 32;
  constexpr uint64_t kUsualNormal = 64;
  constexpr int64_t kLeast = 16;
  constexpr int64_t kMost = 65536;
  const convert::WeightType type = weight_type(arguments);
  const bool is_normal = type == convert::WeightType::nf4;
  if (const uint64_t own = own_block_size(type); own > 0) {
    if (arguments.has("--block-size"))
      fail(ErrorCode::usage, "--block-size: {} has blocks of {}", arguments.value("--weights"), own);
    return own;
  }
  if (!arguments.has("--block-size")) return is_normal ? kUsualNormal : is_int4(arguments) || is_nbits ? kUsual : 0;
  const int64_t size = parse_integer("--block-size", arguments.value("--block-size"));
  const bool is_power = size >= kLeast && size <= kMost && std::has_single_bit(static_cast<uint64_t>(size));
  const bool needs_blocks = is_nbits || is_normal;
  if (!is_power && (size != 0 || needs_blocks)) {
    fail(ErrorCode::usage, "--block-size: expected a power of two from {} to {}{}, seen {}", kLeast, kMost,
         needs_blocks ? "" : ", or 0 for whole channels", size);
  }
  return static_cast<uint64_t>(size);
}

convert::WeightOptions weight_sizes(const Arguments& arguments, bool is_nbits) {
  convert::WeightOptions options;
  options.type = weight_type(arguments);
  options.bits = is_int4(arguments) ? 4 : 8;
  options.block_size = block_size(arguments, is_nbits);
  return options;
}

OptionRow weights_row(std::vector<std::string_view> choices) {
  return {.names = {"--weights"},
          .choices = std::move(choices),
          .help = "compress the weights of convolutions (types of 8 bits) and matrix products"};
}

OptionRow block_size_row() {
  return {.names = {"--block-size"},
          .metavar = "N",
          .help = "numbers that share a scale, 0: whole output channels; default: 0 for 8 bits, 64 for nf4, else 32"};
}

OptionRow algorithm_row() {
  return {.names = {"--algorithm"},
          .choices = {"rtn", "awq", "gptq"},
          .help =
              "with --weights: round each number by itself (rtn, the default), after scaling channels by what they "
              "meet in the layer's inputs (awq), or so that the next numbers make up for it (gptq); the last two "
              "run the model on the inputs"};
}

// Refuses what the small types of floats do not have.
void check_small(const Arguments& arguments, const convert::WeightOptions& options) {
  if (options.type == convert::WeightType::integer) {
    if (options.form == convert::WeightForm::table)
      fail(ErrorCode::usage, "--weights-form table is for types of four bits that are floats");
    return;
  }
  const std::string type = arguments.value("--weights");
  if (options.asymmetric) fail(ErrorCode::usage, "--asymmetric: {} has no zero points", type);
  if (options.form == convert::WeightForm::matmulnbits)
    fail(ErrorCode::usage, "--weights-form matmulnbits: its codes are integers, not {}", type);
  if (options.form == convert::WeightForm::table && options.type == convert::WeightType::fp8)
    fail(ErrorCode::usage, "--weights-form table: fp8 has too many numbers");
}

convert::WeightOptions parse_options(const Arguments& arguments) {
  const std::string form = arguments.value("--weights-form");
  const bool is_nbits = form == "matmulnbits";
  convert::WeightOptions options = weight_sizes(arguments, is_nbits);
  options.asymmetric = arguments.flag("--asymmetric");
  options.form = is_nbits          ? convert::WeightForm::matmulnbits
                 : form == "table" ? convert::WeightForm::table
                                   : convert::WeightForm::dequantize;
  for (const auto& [word, algorithm] : kAlgorithms) {
    if (arguments.value("--algorithm") == word) options.algorithm = algorithm;
  }
  check_small(arguments, options);
  options.choice = layer_choice(arguments);
  for (std::string& layer : layers_without_integers(arguments)) options.choice.excluded.push_back(std::move(layer));
  return options;
}

}  // namespace

OptionGroup engine_weights_group() {
  return {.title = "Weights of Engines",
          .description = "What the built-in engine runs instead of the model",
          .rows = {weights_row({"int8", "int4"}), block_size_row()}};
}

tasks::WeightsRequest weights_request(const Arguments& arguments) {
  tasks::WeightsRequest request{.options = weight_sizes(arguments, false), .backend = {}};
  request.options.form = convert::WeightForm::either;
  return request;
}

std::string_view weights_suffix(const Arguments& arguments, Target) {
  if (arguments.has("--algorithm") && !arguments.has("--weights"))
    fail(ErrorCode::usage, "--algorithm needs --weights");
  if (!arguments.has("--weights")) return {};
  static_cast<void>(parse_options(arguments));
  for (const auto& [word, suffix] : {std::pair("fp8", "weights-fp8"), std::pair("nvfp4", "weights-nvfp4"),
                                     std::pair("mxfp4", "weights-mxfp4"), std::pair("nf4", "weights-nf4")}) {
    if (arguments.value("--weights") == word) return suffix;
  }
  return is_int4(arguments) ? "weights-int4" : "weights-int8";
}

std::vector<OptionGroup> weights_groups() {
  return {{.title = "Weights",
           .description = "Weights alone in small types; the layers go on computing with floats (docs/weights.md)",
           .rows = {
               weights_row({"int8", "int4", "fp8", "nvfp4", "mxfp4", "nf4"}),
               block_size_row(),
               algorithm_row(),
               {.names = {"--weights-form"},
                .choices = {"dequantize", "matmulnbits", "table"},
                .default_value = "dequantize",
                .help = "DequantizeLinear, which blocks and int4 need operator set 21 for, nvfp4 23 and mxfp4 24; ONNX "
                        "Runtime's own MatMulNBits; or, for floats of four bits, Gather from a table, which every "
                        "runtime has and nf4 always uses; engines take any"}}}};
}

void request_weights(const Arguments& arguments, tasks::ConvertRequest& request) {
  convert::WeightOptions options = parse_options(arguments);
  // Readers of a plan have no use for the operators in between.
  if (request.builds_plan && !arguments.has("--weights-form")) options.form = convert::WeightForm::either;
  request.conversion = tasks::WeightsRequest{.options = std::move(options),
                                             .trials = layer_trials(arguments),
                                             .reports_errors = arguments.flag("--report-error"),
                                             .backend = arguments.value("--calibrate-with")};
}

}  // namespace assay::cli
