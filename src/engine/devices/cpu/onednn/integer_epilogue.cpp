#include <algorithm>

#include "engine/devices/cpu/onednn/epilogue.h"

namespace assay::engine::cpu::onednn {
namespace {

// Tells the library what follows a product of integers. What the steps have at any time stands for
// factor * number + offset; factors are above 0.
class StepMaker {
 public:
  StepMaker(const Layer& layer, const Chain& chain) : layer_(layer), chain_(chain) {}

  std::optional<Epilogue> make() {
    while (!is_done()) {
      if (!add_step()) return std::nullopt;
    }
    if (!made_.quantizer) bring_to(1, 0);
    return std::move(made_);
  }

 private:
  const Chain::Step& step() const { return chain_.steps[next_]; }
  bool is_done() const { return next_ == chain_.steps.size(); }

  bool add_step() {
    if (step().makes_codes()) return quantize();
    if (step().op == ElementOp::dequantize) return step().a == value_ ? dequantize() : note_input();
    if (made_.quantizer) return false;
    return step().op == ElementOp::add ? add() : apply();
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
  bool quantize() {
    const Chain::Step& to = step();
    if (to.a != value_ || made_.quantizer) return false;
    pass();
    if (is_done()) {
      bring_to(factor_, 0);
      made_.quantizer = {.codes = to.dtype, .scale = to.p / factor_, .zero = static_cast<int32_t>(to.q)};
      return true;
    }
    bring_to(to.p, 0);
    made_.steps.push_back({.eltwise = {kRound, 0, 0}});
    const float least = (to.op == ElementOp::quantize_signed ? -128.0F : 0.0F) - to.q;
    made_.steps.push_back({.eltwise = {kClip, least, least + 255}});
    codes_ = &to;
    return true;
  }

  bool dequantize() {
    if (codes_ == nullptr) return false;
    factor_ = step().p;
    offset_ = step().p * (codes_->q - step().q);
    codes_ = nullptr;
    pass();
    return true;
  }

  // Codes that are dequantised to be added later.
  bool note_input() {
    if (chain_.input_of(step().a) < 0) return false;
    inputs_.push_back(&step());
    ++next_;
    return true;
  }

  bool add() {
    const bool is_first = step().a == value_;
    if (codes_ != nullptr || (!is_first && step().b != value_)) return false;
    const int other = is_first ? step().b : step().a;
    const auto known = std::ranges::find(inputs_, other, &Chain::Step::out);
    const Chain::Step* const codes = known == inputs_.end() ? nullptr : *known;
    const int input = chain_.input_of(codes == nullptr ? other : codes->a);
    if (other == value_ || input < 0 || layer_.constants[static_cast<size_t>(input)] != nullptr) return false;
    const TensorDesc& desc = layer_.inputs[static_cast<size_t>(input)];
    if (desc.dims != layer_.outputs[0].dims || desc.strides != layer_.outputs[0].strides) return false;
    if (codes == nullptr && desc.dtype != tensor::DType::float32) return false;
    const float scale = codes == nullptr ? 1 : codes->p;
    bring_to(scale, codes == nullptr ? 0 : scale * codes->q);
    made_.steps.push_back({.added = input, .dtype = desc.dtype, .eltwise = {}});
    offset_ = 0;
    pass();
    return true;
  }

  // An operation of the library on each element.
  bool apply() {
    const std::optional<Eltwise> eltwise = step().a == value_ ? eltwise_of(step()) : std::nullopt;
    if (codes_ != nullptr || !eltwise || chain_.uses(value_) != 1) return false;
    const bool is_linear = eltwise->algorithm == kRelu;  // by factors
    bring_to(is_linear ? factor_ : 1, 0);
    made_.steps.push_back({.eltwise = *eltwise});
    pass();
    return true;
  }

  std::optional<Eltwise> eltwise_of(const Chain::Step& step) const {
    switch (step.op) {
      case ElementOp::silu:
        return Eltwise{kSwish, 1, 0};
      case ElementOp::gelu:  // of which codes are made: for these the library's approximation does
        if (next_ + 1 == chain_.steps.size() || !chain_.steps[next_ + 1].makes_codes()) return std::nullopt;
        return Eltwise{kGelu, 0, 0};
      default:
        return appended_eltwise(step);
    }
  }

  void pass() { value_ = chain_.steps[next_++].out; }

  const Layer& layer_;
  const Chain& chain_;
  size_t next_ = 0;
  int value_ = 0;  // the register that the steps have
  float factor_ = 1;
  float offset_ = 0;
  const Chain::Step* codes_ = nullptr;      // set if the numbers are codes less this one's zero point
  std::vector<const Chain::Step*> inputs_;  // codes that are dequantised
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

std::optional<Epilogue> make_integer_epilogue(const Layer& layer, size_t done) {
  const std::optional<Chain> chain = find_chain(layer, done, layer.result(layer.nodes[done - 1], 0));
  return chain ? StepMaker(layer, *chain).make() : std::nullopt;
}

}  // namespace assay::engine::cpu::onednn
