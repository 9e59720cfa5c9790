#include <algorithm>
#include <array>

#include "engine/devices/cpu/onednn/epilogue.h"
#include "engine/layers/spelled_gelu.h"
#include "tensor/elements.h"

namespace assay::engine::cpu::onednn {
namespace {

// Tells the library what follows a product of integers. What the steps have at any time stands for
// factor * number + offset; factors are above 0.
class StepMaker {
 public:
  StepMaker(const Layer& layer, size_t done)
      : layer_(layer), next_(done), value_(layer.result(layer.nodes[done - 1], 0)) {}

  std::optional<Epilogue> make() {
    while (next_ < layer_.nodes.size()) {
      if (!add_node()) return std::nullopt;
    }
    if (!made_.quantizer) bring_to(1, 0);
    return std::move(made_);
  }

 private:
  struct Codes {
    int input = -1;
    Quantizer quantizer;
  };

  std::optional<Quantizer> quantizer_of(ir::NodeId node) const {
    return find_quantizer(*layer_.model, *layer_.inference, node,
                          [&](ir::ValueId value) { return layer_.constant(value); });
  }

  bool add_node() {
    const ir::NodeId node = layer_.nodes[next_];
    const std::string_view op = layer_.op(node);
    if (op == "QuantizeLinear") return quantize(node);
    if (op == "DequantizeLinear") return layer_.operand(node, 0) == value_ ? dequantize(node) : note_input(node);
    if (made_.quantizer) return false;
    return op == "Add" ? add(node) : apply();
  }

  // Numbers that stand for what they did before, with this factor and offset.
  void bring_to(float factor, float offset) {
    if (factor == factor_ && offset == offset_) return;
    if (made_.steps.empty() && offset == offset_ && offset == 0) {
      made_.unit = factor;
    } else {
      made_.steps.push_back({.eltwise = {kLinear, factor_ / factor, (offset_ - offset) / factor}});
    }
    factor_ = factor;
    offset_ = offset;
  }

  // The last quantizer is the library's; others are rounded to codes less the zero point.
  bool quantize(ir::NodeId node) {
    const std::optional<Quantizer> quantizer = quantizer_of(node);
    if (!quantizer || layer_.operand(node, 0) != value_ || made_.quantizer) return false;
    finish(node);
    if (next_ == layer_.nodes.size()) {
      bring_to(factor_, 0);
      made_.quantizer = quantizer;
      made_.quantizer->scale /= factor_;
      return true;
    }
    bring_to(quantizer->scale, 0);
    made_.steps.push_back({.eltwise = {kRound, 0, 0}});
    const bool is_signed = quantizer->codes == tensor::DType::int8;
    const auto least = static_cast<float>((is_signed ? -128 : 0) - quantizer->zero);
    made_.steps.push_back({.eltwise = {kClip, least, least + 255}});
    codes_ = quantizer;
    return true;
  }

  bool dequantize(ir::NodeId node) {
    const std::optional<Quantizer> quantizer = quantizer_of(node);
    if (!quantizer || !codes_) return false;
    factor_ = quantizer->scale;
    offset_ = quantizer->scale * static_cast<float>(codes_->zero - quantizer->zero);
    codes_.reset();
    finish(node);
    return true;
  }

  // Codes that are dequantised to be added later.
  bool note_input(ir::NodeId node) {
    const std::optional<Quantizer> quantizer = quantizer_of(node);
    const int input = layer_.input_of(layer_.operand(node, 0));
    ++next_;
    if (!quantizer || input < 0) return false;
    inputs_.emplace_back(layer_.result(node, 0), Codes{input, *quantizer});
    return true;
  }

  bool add(ir::NodeId node) {
    if (codes_) return false;
    const bool is_first = layer_.operand(node, 0) == value_;
    if (!is_first && layer_.operand(node, 1) != value_) return false;
    const ir::ValueId other = layer_.operand(node, is_first ? 1 : 0);
    const auto known = std::ranges::find(inputs_, other, &std::pair<ir::ValueId, Codes>::first);
    const int input = known == inputs_.end() ? layer_.input_of(other) : known->second.input;
    if (other == value_ || input < 0 || layer_.constants[static_cast<size_t>(input)] != nullptr) return false;
    const TensorDesc& desc = layer_.inputs[static_cast<size_t>(input)];
    if (desc.dims != layer_.outputs[0].dims || desc.strides != layer_.outputs[0].strides) return false;
    if (known == inputs_.end() && desc.dtype != tensor::DType::float32) return false;
    const Quantizer codes = known == inputs_.end() ? Quantizer() : known->second.quantizer;
    bring_to(codes.scale, codes.scale * static_cast<float>(codes.zero));
    made_.steps.push_back({.added = input, .dtype = desc.dtype, .eltwise = {}});
    offset_ = 0;
    finish(node);
    return true;
  }

  // An operation of the library on each element.
  bool apply() {
    if (codes_) return false;
    const auto [eltwise, taken] = next_eltwise();
    if (taken == 0) return false;
    const bool is_linear = eltwise.algorithm == kRelu;  // by factors
    bring_to(is_linear ? factor_ : 1, 0);
    made_.steps.push_back({.eltwise = eltwise});
    next_ += taken - 1;
    finish(layer_.nodes[next_]);
    return true;
  }

  // And of how many nodes it is; 0: none.
  std::pair<Eltwise, size_t> next_eltwise() const {
    if (const std::optional<Eltwise> one = appended_eltwise(layer_, next_, value_)) return {*one, 1};
    if (is_swish()) return {{kSwish, 1, 0}, 2};
    return {{kGelu, 0, 0}, gelu_nodes()};
  }

  // True if the next nodes are a Sigmoid times its operand.
  bool is_swish() const {
    if (layer_.nodes.size() < next_ + 2 || layer_.op(layer_.nodes[next_]) != "Sigmoid") return false;
    const ir::NodeId product = layer_.nodes[next_ + 1];
    const ir::ValueId share = layer_.result(layer_.nodes[next_], 0);
    const std::array operands = {layer_.operand(product, 0), layer_.operand(product, 1)};
    return layer_.operand(layer_.nodes[next_], 0) == value_ && layer_.op(product) == "Mul" &&
           std::ranges::count(operands, value_) == 1 && std::ranges::count(operands, share) == 1;
  }

  // The number of next nodes that are a GELU by erf of which codes are made: for these the library's approximation
  // does.
  size_t gelu_nodes() const {
    const SpelledGelu gelu = match_gelu(layer_, next_, value_);
    const size_t end = next_ + gelu.nodes;
    const bool makes_codes = end < layer_.nodes.size() && layer_.op(layer_.nodes[end]) == "QuantizeLinear";
    return makes_codes && !gelu.is_by_tanh ? gelu.nodes : 0;
  }

  void finish(ir::NodeId node) {
    ++next_;
    value_ = layer_.result(node, 0);
  }

  const Layer& layer_;
  size_t next_;
  ir::ValueId value_;  // that the steps have
  float factor_ = 1;
  float offset_ = 0;
  std::optional<Quantizer> codes_;  // set if the numbers are codes less this zero point
  std::vector<std::pair<ir::ValueId, Codes>> inputs_;
  Epilogue made_;
};

}  // namespace

std::pair<Scaling, std::vector<float>> scaling_of(const QuantizedProduct& product, const Epilogue& epilogue) {
  Scaling scaling{.source = {product.quantizer.scale / epilogue.unit}, .weights = product.scales};
  if (product.quantizer.zero != 0) scaling.source_zero = {product.quantizer.zero};
  if (epilogue.quantizer) {
    scaling.target = {epilogue.quantizer->scale};
    if (epilogue.quantizer->zero != 0) scaling.target_zero = {epilogue.quantizer->zero};
  }
  std::vector<float> bias;
  for (const float number : product.bias) bias.push_back(number / epilogue.unit);
  return {std::move(scaling), std::move(bias)};
}

std::optional<Epilogue> make_integer_epilogue(const Layer& layer, size_t done) { return StepMaker(layer, done).make(); }

}  // namespace assay::engine::cpu::onednn
