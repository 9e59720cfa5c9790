#include "convert/quantize/qdq_edit.h"

#include <algorithm>
#include <limits>

#include "convert/precision/float_values.h"
#include "convert/quantize/block_codes.h"
#include "convert/quantize/linear_nodes.h"
#include "ops/inference.h"
#include "schema/imports.h"

namespace assay::convert {
namespace {

using tensor::DType;
using tensor::Tensor;

Tensor zeros(DType dtype, const tensor::Shape& shape) {
  const uint64_t count = tensor::element_count(shape).value_or(0);
  return Tensor(dtype, shape, tensor::make_owned(std::vector<std::byte>(count * tensor::bit_width(dtype) / 8)));
}

constexpr int64_t kContradicts = 21;
constexpr size_t kStacked = 3;  // dims of a product of stacked matrices, at least

class QdqEditor {
 public:
  QdqEditor(ir::Model& model, ir::Edit& edit, const QdqOptions& options, const QdqPlan& plan,
            const calibrate::Ranges& ranges)
      : model_(model),
        nodes_(model, edit, options.store),
        edit_(edit),
        options_(options),
        plan_(plan),
        ranges_(ranges) {
    first_ = model[model.main_graph()].first;
    for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
      if (plan.roles[node.index] == QdqRole::compute) compute_.push_back(node);
    }
  }

  QdqEdits apply() {
    if (options_.codes == QdqCodes::int8 && schema::imported_version(model_) >= kContradicts) widen_biases();
    for (uint32_t i = 0; i < plan_.is_quantized.size(); ++i) {
      if (plan_.is_quantized[i]) round_activation(ir::ValueId{i});
    }
    for (const ir::NodeId node : compute_) quantize_weights(node);
    for (const auto& [key, weight] : weights_) nodes_.drop_unused(key.first);
    for (const ir::ValueId bias : biases_) nodes_.drop_unused(bias);
    return edits_;
  }

 private:
  // A constant as codes.
  struct Weight {
    ir::ValueId dequantized;
    std::vector<float> scales;
  };
  struct Bias {
    ir::ValueId value;
    uint32_t operand;
    Tensor floats;
  };

  QdqRole role_of_node(ir::NodeId node) const {
    return node.index < plan_.roles.size() ? plan_.roles[node.index] : QdqRole::none;
  }
  bool is_chosen(const ir::Use& use) const {
    const QdqRole role = role_of_node(use.user);
    return role != QdqRole::none && role != QdqRole::activation;
  }
  // True if a node that works on integers makes the value. It is rounded for all users, else the quantizer could not be
  // merged with the node.
  bool is_made_of_integers(ir::ValueId value) const {
    ir::NodeId producer = model_[value].producer;
    while (producer && role_of_node(producer) == QdqRole::activation) {
      producer = model_[model_[producer].operands[0].value].producer;
    }
    return producer && role_of_node(producer) != QdqRole::none;
  }

  Quantizer quantizer_for(ir::ValueId value) const {
    return quantizer_of(ranges_.find(model_.text(model_[plan_.range_of[value.index]].name))->second, options_.codes);
  }

  std::vector<Place> places_of(ir::ValueId value) const {
    std::vector<Place> places;
    for (const ir::Use& use : ir::uses(model_, value)) {
      const ir::Node& user = model_[use.user];
      if (user.is_outputs || user.graph != model_.main_graph()) continue;
      if (is_chosen(use) || is_made_of_integers(value)) places.push_back({use.user, use.index});
    }
    return places;
  }

  void round_activation(ir::ValueId value) {
    const std::vector<Place> places = places_of(value);
    if (places.empty()) return;
    const Quantizer quantizer = quantizer_for(value);
    const std::string_view base = model_.text(model_[value].name);
    const ir::Value& facts = model_[value];
    const ir::NodeId before = facts.producer ? model_[facts.producer].next : first_;
    const ir::ValueId scale =
        nodes_.add_constant(base, "_scale", tensor::make_tensor<float>(DType::float32, {}, {&quantizer.scale, 1}));
    const std::byte code{static_cast<uint8_t>(quantizer.zero_point)};
    const ir::ValueId zero_point =
        nodes_.add_constant(base, "_zero_point", tensor::make_tensor<std::byte>(quantizer.dtype, {}, {&code, 1}));
    const ir::ValueId codes = nodes_.add({true, base, value, scale, zero_point, {}, {}, before});
    const ir::ValueId rounded = nodes_.add({false, base, codes, scale, zero_point, {}, {}, before});
    for (const Place& place : places) edit_.set_operand(place.user, place.index, rounded);
    scales_[rounded] = quantizer.scale;
    ++edits_.activations;
  }

  void quantize_weights(ir::NodeId node) {
    std::vector<float> scales = {1};  // of the products
    for (const uint32_t i : data_operands(model_[node], QdqRole::compute)) {
      const ir::ValueId value = model_[node].operands[i].value;
      if (const auto found = scales_.find(value); found != scales_.end()) {
        for (float& scale : scales) scale *= found->second;
        continue;
      }
      const std::optional<Tensor> floats = float_constant(model_, value);
      if (!floats) return;
      const Weight& weight = weight_of(node, i, *floats);
      edit_.set_operand(node, i, weight.dequantized);
      const float common = scales[0];
      scales = weight.scales;
      for (float& scale : scales) scale *= common;
    }
    if (options_.codes == QdqCodes::uint8) quantize_bias_of(node, scales);
  }

  // Codes, and a scale for the whole or for each channel.
  struct Quantized {
    Tensor codes;
    Tensor scales;
  };

  ir::ValueId add_dequantized(std::string_view base, Quantized weight, int64_t axis, ir::NodeId before) {
    const tensor::Shape scale_shape = weight.scales.shape();
    const ir::ValueId zero_point = nodes_.add_constant(base, "_zero_point", zeros(weight.codes.dtype(), scale_shape));
    const ir::ValueId codes = nodes_.add_constant(base, "_quantized", std::move(weight.codes));
    const ir::ValueId scale = nodes_.add_constant(base, "_scale", std::move(weight.scales));
    LinearNode wanted = {false, base, codes, scale, zero_point, {}, {}, before};
    if (!scale_shape.empty()) wanted.axis = axis;
    return nodes_.add(wanted);
  }

  Quantized quantize_weight(const Tensor& floats, std::optional<uint32_t> axis, bool clips,
                            std::vector<float>& scales) const {
    const bool is_float8 = options_.codes == QdqCodes::float8;
    const Tensor flat(floats.dtype(), {1, static_cast<int64_t>(floats.count())}, floats.storage());
    const Blocks channels = {.axis = axis.value_or(0),
                             .length = 0,
                             .bits = 8,
                             .narrow = true,
                             .type = is_float8 ? WeightType::fp8 : WeightType::integer,
                             .clips = clips};
    BlockCodes made = block_codes(axis ? floats : flat, channels);
    scales = std::move(made.scales);
    return {pack_codes(made.codes, floats.shape(), is_float8 ? DType::float8e4m3fn : DType::int8),
            tensor::make_tensor<float>(DType::float32, axis ? made.shape : tensor::Shape(), scales)};
  }

  const Weight& weight_of(ir::NodeId node, uint32_t operand, const Tensor& floats) {
    const ir::ValueId value = model_[node].operands[operand].value;
    const std::optional<uint32_t> axis =
        options_.per_channel ? channel_axis(model_, node, operand, floats.shape().size()) : std::nullopt;
    const auto [known, is_new] = weights_.try_emplace({value, axis});
    if (!is_new) return known->second;
    Weight& weight = known->second;
    Quantized quantized = quantize_weight(floats, axis, options_.clipped.contains(value), weight.scales);
    floats.storage()->release();
    edits_.weight_bytes_before += floats.size_bytes();
    edits_.weight_bytes_after += quantized.codes.size_bytes() + quantized.scales.size_bytes();
    ++edits_.weights;
    weight.dequantized = add_dequantized(model_.text(model_[value].name), std::move(quantized), axis.value_or(0), node);
    return weight;
  }

  // Stays float where int32 would lose more than float32 does, or cannot hold it.
  void quantize_bias_of(ir::NodeId node, const std::vector<float>& scales) {
    const std::optional<Place> place = bias_place(model_, node);
    if (!place) return;
    const ir::ValueId value = model_[place->user].operands[place->index].value;
    if (!value) return;
    const std::optional<Tensor> floats = float_constant(model_, value);
    if (!floats || floats->shape().empty()) return;
    const bool is_fit = scales.size() == 1 || floats->count() == scales.size();
    const bool is_last = floats->shape().back() == static_cast<int64_t>(floats->count());
    for (const float scale : scales) {
      if (!(scale >= std::numeric_limits<float>::min() && scale <= std::numeric_limits<float>::max())) return;
    }
    if (!is_fit || !is_last) return;
    std::optional<Tensor> codes = quantize_bias(*floats, scales);
    if (!codes) return;
    tensor::Shape scale_shape;
    if (scales.size() > 1) scale_shape.push_back(static_cast<int64_t>(scales.size()));
    Quantized bias = {std::move(*codes), tensor::make_tensor<float>(DType::float32, scale_shape, scales)};
    const int64_t axis = static_cast<int64_t>(floats->shape().size()) - 1;
    edit_.set_operand(place->user, place->index,
                      add_dequantized(model_.text(model_[value].name), std::move(bias), axis, node));
    biases_.push_back(value);
  }

  // ONNX Runtime makes a Gemm between Reshapes of a product of stacked matrices and a bias with fewer dims than it;
  // from operator set 21 on, what it writes for their int8 operands contradicts itself, and the model does not load.
  void widen_biases() {
    ops::Inference inference(model_);
    inference.run();
    for (const ir::NodeId node : compute_) {
      const std::optional<ops::Dims>& dims = inference.type(model_[node].results[0]).dims;
      if (dims && dims->size() >= kStacked) widen_bias_of(node);
    }
  }

  void widen_bias_of(ir::NodeId node) {
    const std::optional<Place> place = bias_place(model_, node);
    if (!place || place->user == node) return;
    const ir::ValueId value = model_[place->user].operands[place->index].value;
    const std::optional<Tensor> floats = float_constant(model_, value);
    if (!floats || floats->shape().empty() || floats->shape().size() >= kStacked) return;
    tensor::Shape shape(kStacked, 1);
    std::ranges::copy_backward(floats->shape(), shape.end());
    const Tensor wide(floats->dtype(), std::move(shape), floats->storage());
    edit_.set_operand(place->user, place->index,
                      nodes_.add_constant(model_.text(model_[value].name), "_stacked", wide));
    biases_.push_back(value);
  }

  ir::Model& model_;
  LinearNodes nodes_;
  ir::Edit& edit_;
  const QdqOptions& options_;
  const QdqPlan& plan_;
  const calibrate::Ranges& ranges_;
  ir::NodeId first_;  // of the main graph, before anything was added
  std::vector<ir::NodeId> compute_;
  std::map<ir::ValueId, float> scales_;  // of activations, by what was rounded
  std::map<std::pair<ir::ValueId, std::optional<uint32_t>>, Weight> weights_;
  std::vector<ir::ValueId> biases_;
  QdqEdits edits_;
};

}  // namespace

QdqEdits apply_qdq(ir::Model& model, ir::Edit& edit, const QdqOptions& options, const QdqPlan& plan,
                   const calibrate::Ranges& ranges) {
  return QdqEditor(model, edit, options, plan, ranges).apply();
}

}  // namespace assay::convert
