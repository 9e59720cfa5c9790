#include "convert/quantize/weight_only.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "convert/precision/float_values.h"
#include "convert/quantize/fitted_codes.h"
#include "convert/quantize/linear_nodes.h"
#include "convert/quantize/nbits_nodes.h"
#include "convert/quantize/qdq_rules.h"
#include "convert/quantize/quantizer.h"
#include "ir/written.h"
#include "ops/traits.h"
#include "schema/imports.h"
#include "tensor/convert.h"

namespace assay::convert {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr uint32_t kWeight = 1;  // the operand, of all these operators
// The operator set whose DequantizeLinear has a scale for each channel, and the one with blocks and int4.
constexpr int64_t kVersionWithChannels = 13;
constexpr int64_t kVersionWithFp8 = 19;
constexpr int64_t kVersionWithBlocks = 21;  // also has Cast of uint4
constexpr int64_t kVersionWithFp4 = 23;
constexpr int64_t kVersionWithPowers = 24;  // of two as scales
constexpr uint64_t kMomentBytes = uint64_t{1} << 30;

class WeightCompressor {
 public:
  WeightCompressor(ir::Model& model, ir::Rewriter& rewriter, const WeightOptions& options, Diagnostics& findings,
                   const WeightServices& services)
      : model_(model),
        rewriter_(rewriter),
        linear_(model, rewriter.edit(), services.store),
        options_(options),
        floats_(model, DType::float16),
        filter_(model, floats_.nodes, options.choice, findings),
        moments_of_(services.moments_of) {
    const bool is_small = options.type != WeightType::integer;
    if (options.type == WeightType::nf4) options_.form = WeightForm::table;
    if (is_small && options_.form == WeightForm::either) options_.form = WeightForm::dequantize;
    if (is_small) return;
    if (options.form != WeightForm::either) return;
    // MatMulNBits has blocks only.
    const bool needs_other = options.block_size > 0 && schema::imported_version(model) < needed_operator_set(options_);
    options_.form = needs_other ? WeightForm::matmulnbits : WeightForm::dequantize;
  }

  WeightReport run() {
    for (const ir::NodeId node : floats_.nodes) look(node);
    if (std::ranges::any_of(report_.layers, &Layer::converted)) require_operator_set();
    for (WeightLayer& layer : report_.layers) {
      if (!layer.converted) continue;
      layer.converted = rewriter_.apply("compress its weight", {&layer.node, 1}, [&] { compress(layer); });
      if (!layer.converted) layer.reason = "it comes after the last step";
      report_.changed = report_.changed || layer.converted;
    }
    for (const auto& [value, weight] : done_) linear_.drop_unused(value.first);
    return std::move(report_);
  }

 private:
  struct Compressed {
    ir::ValueId dequantized;
    Tensor factor;  // of the layer's input
    NBitsWeight nbits;
    WeightError error;
  };

  void look(ir::NodeId id) {
    if (role_of(model_, id, floats_.callees[id]) != QdqRole::compute) return;
    report_.layers.push_back({make_layer(model_, id, reason_to_stay(id)), {}});
  }

  std::string reason_to_stay(ir::NodeId id) const {
    const ir::Node& node = model_[id];
    if (std::string reason = filter_.refusal(id, model_.text(node.op)); !reason.empty()) return reason;
    if (node.graph != model_.main_graph()) return "it is in the body of another node";
    if (node.operands.size() <= kWeight || !node.operands[kWeight].value) return "it has no weight";
    const std::optional<Tensor> weight = float_constant(model_, node.operands[kWeight].value);
    if (!weight) return "its weight is not a float32 constant";
    if (weight->count() == 0) return "its weight is empty";
    const size_t rank = weight->shape().size();
    const std::optional<uint32_t> channels = channel_axis(model_, id, kWeight, rank);
    if (!channels) return "its weight is no matrix";
    if (options_.block_size > 0 && rank != 2) return "blocks are for matrices";
    if (options_.form == WeightForm::table &&
        weight->shape()[1 - *channels] % static_cast<int64_t>(options_.block_size) != 0)
      return "its sums are no multiple of the block";
    const bool is_nbits = options_.form == WeightForm::matmulnbits;
    if (is_nbits && !has_nbits_form(model_, id, weight->shape())) return "MatMulNBits cannot do what it does";
    const bool is_usable = is_finite(*weight);
    weight->storage()->release();
    return is_usable ? "" : "its weight has NaN or infinity";
  }

  void require_operator_set() const {
    const int64_t version = schema::imported_version(model_);
    if (options_.form == WeightForm::matmulnbits || version >= needed_operator_set(options_)) return;
    fail(ErrorCode::unsupported, "operator set {} cannot hold such weights: DequantizeLinear needs {} or newer{}",
         version, needed_operator_set(options_),
         options_.type == WeightType::integer && needed_operator_set(options_) == kVersionWithBlocks
             ? ", or the form matmulnbits (blocks of 16 and more)"
             : "");
  }

  // Blocks run along what is summed up, across the axis of the output channels.
  Blocks blocks_of(uint32_t channels) const {
    return {options_.block_size > 0 ? 1 - channels : channels,
            options_.block_size,
            options_.bits,
            options_.asymmetric,
            false,
            options_.type};
  }

  void compress(WeightLayer& layer) {
    const ir::ValueId value = model_[layer.node].operands[kWeight].value;
    const Tensor floats = *float_constant(model_, value);
    const uint32_t channels = *channel_axis(model_, layer.node, kWeight, floats.shape().size());
    const auto [known, is_new] = done_.try_emplace({value, channels});
    if (is_new) known->second = make(layer.node, floats, blocks_of(channels));
    layer.error = known->second.error;
    if (known->second.factor.count() > 0) scale_input(layer.node, known->second.factor);
    if (options_.form == WeightForm::matmulnbits) {
      make_nbits_node(model_, rewriter_.edit(), layer.node, known->second.nbits);
    } else {
      rewriter_.edit().set_operand(layer.node, kWeight, known->second.dequantized);
    }
  }

  Compressed make(ir::NodeId node, const Tensor& floats, const Blocks& blocks) {
    const std::string_view base = model_.text(model_[model_[node].operands[kWeight].value].name);
    const FittedCodes fitted = fitted_codes(node, floats, blocks);
    const BlockCodes& codes = fitted.codes;
    Compressed made;
    made.factor = fitted.factor;
    made.error = codes.error;
    ++report_.weights;
    report_.bytes_before += floats.size_bytes();
    if (options_.form == WeightForm::matmulnbits) {
      made.nbits = add_nbits_weight(linear_, base, floats.shape(), blocks, codes);
      report_.bytes_after += made.nbits.size_bytes;
    } else {
      made.dequantized = add_dequantize(node, floats.shape(), blocks, codes);
    }
    floats.storage()->release();
    return made;
  }

  // The axis that a product sums up; nullopt: it is no product of matrices, or reads another order.
  std::optional<uint32_t> summed_axis(ir::NodeId node, const tensor::Shape& shape) const {
    const ops::Traits& traits = ops::traits(model_, node);
    if (traits.product != ops::ProductKind::matrices || shape.size() != 2) return std::nullopt;
    if (ir::written_integer(model_, model_[node], "transA").value_or(0) != 0) return std::nullopt;
    return 1 - *channel_axis(model_, node, kWeight, shape.size());
  }

  std::string input_of(ir::NodeId node) const {
    const ir::ValueId input = model_[node].operands[0].value;
    return input ? std::string(model_.text(model_[input].name)) : std::string();
  }

  // Moments of the inputs of this layer and of those behind it, as many as the budget holds.
  void load_moments(ir::NodeId node) {
    moments_.clear();
    std::vector<std::string> names;
    uint64_t bytes = 0;
    bool is_behind = false;
    for (const WeightLayer& layer : report_.layers) {
      is_behind = is_behind || layer.node == node;
      if (!is_behind || !layer.converted) continue;
      const std::optional<Tensor> weight = float_constant(model_, model_[layer.node].operands[kWeight].value);
      const std::optional<uint32_t> along = weight ? summed_axis(layer.node, weight->shape()) : std::nullopt;
      if (!along) continue;
      const auto length = static_cast<uint64_t>(weight->shape()[*along]);
      bytes += length * length * sizeof(double);
      if (!names.empty() && bytes > kMomentBytes) break;
      names.push_back(input_of(layer.node));
    }
    moments_ = moments_of_(names);
  }

  FittedCodes fitted_codes(ir::NodeId node, const Tensor& floats, const Blocks& blocks) {
    const std::optional<uint32_t> along = summed_axis(node, floats.shape());
    if (options_.algorithm == WeightAlgorithm::rtn || !moments_of_ || !along) return {block_codes(floats, blocks), {}};
    const std::string input = input_of(node);
    if (!moments_.contains(input)) load_moments(node);
    const auto found = moments_.find(input);
    const bool fits = found != moments_.end() && found->second.size == static_cast<uint64_t>(floats.shape()[*along]);
    if (!fits) return {block_codes(floats, blocks), {}};
    return options_.algorithm == WeightAlgorithm::gptq ? compensated_codes(floats, blocks, *along, found->second)
                                                       : scaled_codes(floats, blocks, *along, found->second);
  }

  void scale_input(ir::NodeId node, const Tensor& factor) {
    const ir::ValueId input = model_[node].operands[0].value;
    const std::string base(model_.text(model_[model_[node].operands[kWeight].value].name));
    report_.bytes_after += factor.size_bytes();
    rewriter_.edit().set_operand(node, 0, linear_.add_product(base, input, factor, node));
  }

  ir::ValueId add(std::string_view base, std::string_view suffix, Tensor tensor) {
    report_.bytes_after += tensor.size_bytes();
    return linear_.add_constant(base, suffix, std::move(tensor));
  }

  DType code_type() const {
    if (options_.type == WeightType::fp8) return DType::float8e4m3fn;
    if (options_.type != WeightType::integer) return DType::float4e2m1;
    if (options_.bits == 4) return options_.asymmetric ? DType::uint4 : DType::int4;
    return options_.asymmetric ? DType::uint8 : DType::int8;
  }

  ir::ValueId add_dequantize(ir::NodeId node, const tensor::Shape& shape, const Blocks& blocks,
                             const BlockCodes& codes) {
    const std::string_view base = model_.text(model_[model_[node].operands[kWeight].value].name);
    if (options_.form == WeightForm::table) return add_table(node, shape, blocks, codes);
    LinearNode wanted = {.quantizes = false, .base = base, .before = node};
    wanted.from = add(base, "_quantized", pack_codes(codes.codes, shape, code_type()));
    wanted.scale = add_scales(node, base, codes);
    if (options_.type == WeightType::integer)
      wanted.zero_point = add(base, "_zero_point", pack_codes(codes.zero_points, codes.shape, code_type()));
    if (options_.type == WeightType::mxfp4) wanted.dtype = DType::float32;
    wanted.axis = blocks.axis;
    if (blocks.length > 0) wanted.block_size = static_cast<int64_t>(blocks.length);
    return linear_.add(wanted);
  }

  // Scales in the type that the weights' type has for them.
  ir::ValueId add_scales(ir::NodeId node, std::string_view base, const BlockCodes& codes) {
    const Tensor floats = tensor::make_tensor<float>(DType::float32, codes.shape, codes.scales);
    if (options_.type == WeightType::mxfp4) return add(base, "_scale", tensor::converted(floats, DType::float8e8m0));
    if (options_.type != WeightType::nvfp4) return add(base, "_scale", floats);
    const float of_tensor = codes.of_tensor;
    const std::string scale_base = std::string(base) + "_scale";
    LinearNode scales = {.quantizes = false, .base = scale_base, .before = node};
    scales.from = add(base, "_scale_quantized", tensor::converted(floats, DType::float8e4m3fn));
    scales.scale =
        add(base, "_scale_of_tensor", tensor::make_tensor<float>(DType::float32, {}, std::span(&of_tensor, 1)));
    return linear_.add(scales);
  }

  ir::ValueId add_table(ir::NodeId node, const tensor::Shape& shape, const Blocks& blocks, const BlockCodes& codes) {
    std::vector<float> scales = codes.scales;
    for (float& scale : scales) scale *= codes.of_tensor;
    const TableNodes wanted = {.base = model_.text(model_[model_[node].operands[kWeight].value].name),
                               .codes = pack_codes(codes.codes, shape, DType::uint4),
                               .table = tensor::make_tensor<float>(DType::float32, {16}, small_table(options_.type)),
                               .scales = tensor::make_tensor<float>(DType::float32, codes.shape, scales),
                               .axis = blocks.axis,
                               .before = node};
    report_.bytes_after += wanted.codes.size_bytes() + wanted.table.size_bytes() + wanted.scales.size_bytes();
    return linear_.add_table(wanted);
  }

  ir::Model& model_;
  ir::Rewriter& rewriter_;
  LinearNodes linear_;
  WeightOptions options_;
  FloatModel floats_;
  LayerFilter filter_;
  const MomentsOf& moments_of_;
  std::map<std::string, calibrate::Moments> moments_;
  std::map<std::pair<ir::ValueId, uint32_t>, Compressed> done_;  // by weight and axis of the channels
  WeightReport report_;
};

}  // namespace

int64_t needed_operator_set(const WeightOptions& options) {
  if (options.form == WeightForm::table || options.type == WeightType::nf4) return kVersionWithBlocks;
  if (options.type == WeightType::nvfp4) return kVersionWithFp4;
  if (options.type == WeightType::mxfp4) return kVersionWithPowers;
  if (options.type == WeightType::fp8) return options.block_size > 0 ? kVersionWithBlocks : kVersionWithFp8;
  return options.bits < 8 || options.block_size > 0 ? kVersionWithBlocks : kVersionWithChannels;
}

WeightReport compress_weights(ir::Model& model, ir::Rewriter& rewriter, const WeightOptions& options,
                              Diagnostics& findings, const WeightServices& services) {
  return WeightCompressor(model, rewriter, options, findings, services).run();
}

WeightReport compress_weights(ir::Model& model, const WeightOptions& options, Diagnostics& findings) {
  ir::Rewriter rewriter(model);
  return compress_weights(model, rewriter, options, findings);
}

}  // namespace assay::convert
