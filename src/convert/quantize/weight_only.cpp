#include "convert/quantize/weight_only.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "convert/precision/float_values.h"
#include "convert/quantize/linear_nodes.h"
#include "convert/quantize/nbits_nodes.h"
#include "convert/quantize/qdq_rules.h"
#include "convert/quantize/quantizer.h"
#include "schema/imports.h"

namespace assay::convert {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr uint32_t kWeight = 1;  // the operand, of all these operators
// The operator set whose DequantizeLinear has a scale for each channel, and the one with blocks and int4.
constexpr int64_t kVersionWithChannels = 13;
constexpr int64_t kVersionWithBlocks = 21;

class WeightCompressor {
 public:
  WeightCompressor(ir::Model& model, ir::Rewriter& rewriter, const WeightOptions& options, Diagnostics& findings)
      : model_(model),
        rewriter_(rewriter),
        linear_(model, rewriter.edit()),
        options_(options),
        floats_(model, DType::float16),
        filter_(model, floats_.nodes, options.choice, findings) {
    if (options.form != WeightForm::either) return;
    // MatMulNBits has blocks only.
    const bool needs_other = options.block_size > 0 && schema::imported_version(model) < needed_version();
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
    const bool is_nbits = options_.form == WeightForm::matmulnbits;
    if (is_nbits && !has_nbits_form(model_, id, weight->shape())) return "MatMulNBits cannot do what it does";
    if (!is_finite(*weight)) return "its weight has NaN or infinity";
    return {};
  }

  // The operator set whose DequantizeLinear takes such weights.
  int64_t needed_version() const {
    return options_.bits < 8 || options_.block_size > 0 ? kVersionWithBlocks : kVersionWithChannels;
  }

  void require_operator_set() const {
    const int64_t version = schema::imported_version(model_);
    if (options_.form == WeightForm::matmulnbits || version >= needed_version()) return;
    fail(ErrorCode::unsupported, "operator set {} cannot hold such weights: DequantizeLinear needs {} or newer{}",
         version, needed_version(),
         needed_version() == kVersionWithBlocks ? ", or the form matmulnbits (blocks of 16 and more)" : "");
  }

  // Blocks run along what is summed up, across the axis of the output channels.
  Blocks blocks_of(uint32_t channels) const {
    return {options_.block_size > 0 ? 1 - channels : channels, options_.block_size, options_.bits, options_.asymmetric};
  }

  void compress(WeightLayer& layer) {
    const ir::ValueId value = model_[layer.node].operands[kWeight].value;
    const Tensor floats = *float_constant(model_, value);
    const uint32_t channels = *channel_axis(model_, layer.node, kWeight, floats.shape().size());
    const auto [known, is_new] = done_.try_emplace({value, channels});
    if (is_new) known->second = make(layer.node, floats, blocks_of(channels));
    layer.error = known->second.error;
    if (options_.form == WeightForm::matmulnbits) {
      make_nbits_node(model_, rewriter_.edit(), layer.node, known->second.nbits);
    } else {
      rewriter_.edit().set_operand(layer.node, kWeight, known->second.dequantized);
    }
  }

  Compressed make(ir::NodeId node, const Tensor& floats, const Blocks& blocks) {
    const std::string_view base = model_.text(model_[model_[node].operands[kWeight].value].name);
    const BlockCodes codes = block_codes(floats, blocks);
    Compressed made;
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

  ir::ValueId add(std::string_view base, std::string_view suffix, Tensor tensor) {
    report_.bytes_after += tensor.size_bytes();
    return linear_.add_constant(base, suffix, std::move(tensor));
  }

  ir::ValueId add_dequantize(ir::NodeId node, const tensor::Shape& shape, const Blocks& blocks,
                             const BlockCodes& codes) {
    const std::string_view base = model_.text(model_[model_[node].operands[kWeight].value].name);
    const DType dtype = options_.bits == 4 ? (options_.asymmetric ? DType::uint4 : DType::int4)
                                           : (options_.asymmetric ? DType::uint8 : DType::int8);
    LinearNode wanted = {.quantizes = false, .base = base, .before = node};
    wanted.from = add(base, "_quantized", pack_codes(codes.codes, shape, dtype));
    wanted.scale = add(base, "_scale", tensor::make_tensor<float>(DType::float32, codes.shape, codes.scales));
    wanted.zero_point = add(base, "_zero_point", pack_codes(codes.zero_points, codes.shape, dtype));
    wanted.axis = blocks.axis;
    if (blocks.length > 0) wanted.block_size = static_cast<int64_t>(blocks.length);
    return linear_.add(wanted);
  }

  ir::Model& model_;
  ir::Rewriter& rewriter_;
  LinearNodes linear_;
  WeightOptions options_;
  FloatModel floats_;
  LayerFilter filter_;
  std::map<std::pair<ir::ValueId, uint32_t>, Compressed> done_;  // by weight and axis of the channels
  WeightReport report_;
};

}  // namespace

WeightReport compress_weights(ir::Model& model, ir::Rewriter& rewriter, const WeightOptions& options,
                              Diagnostics& findings) {
  return WeightCompressor(model, rewriter, options, findings).run();
}

WeightReport compress_weights(ir::Model& model, const WeightOptions& options, Diagnostics& findings) {
  ir::Rewriter rewriter(model);
  return compress_weights(model, rewriter, options, findings);
}

}  // namespace assay::convert
