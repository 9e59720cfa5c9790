#include "engine/devices/cpu/integers/integer_epilogue.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/rows/floats.h"
#include "engine/layers/followers.h"
#include "engine/layers/spelled_gelu.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kWholeChannels = 64;  // that loops read at once

std::optional<NumberType> number_type(tensor::DType dtype) {
  if (dtype == tensor::DType::float32) return NumberType::float32;
  if (dtype == tensor::DType::int8) return NumberType::int8;
  if (dtype == tensor::DType::uint8) return NumberType::uint8;
  return dtype == tensor::DType::int32 ? std::optional(NumberType::int32) : std::nullopt;
}

// The codes of a type, less a zero point.
std::pair<float, float> range_of(const Quantizer& quantizer) {
  const int32_t least = (quantizer.codes == tensor::DType::int8 ? -128 : 0) - quantizer.zero;
  return {static_cast<float>(least), static_cast<float>(least + 255)};
}

}  // namespace

// Reads what follows a product as steps, in which numbers are in the unit of the next quantizer, or as GELU wants them.
class IntegerEpilogueMaker {
 public:
  IntegerEpilogueMaker(const Layer& layer, size_t done)
      : layer_(layer), next_(done), value_(layer.result(layer.nodes[done - 1], 0)) {}

  std::optional<IntegerEpilogue> make(std::vector<float> factors, std::vector<float> bias) {
    const std::optional<NumberType> type =
        layer_.outputs.size() == 1 ? number_type(layer_.outputs[0].dtype) : std::nullopt;
    const size_t done = next_;
    if (type == NumberType::int32 && done < layer_.nodes.size()) return std::nullopt;
    if (!read_all()) {
      std::optional<Tape> tape = Tape::make(layer_, done, layer_.result(layer_.nodes[done - 1], 0));
      if (!tape) return std::nullopt;
      tape->take_floats();
      made_ = {};
      made_.tape_ = std::move(*tape);
      first_unit_ = 1;
      constant_ = 0;
    } else if (!type) {
      return std::nullopt;
    }
    made_.out_type_ = layer_.outputs[0].dtype;
    set_numbers(std::move(factors), std::move(bias));
    return std::move(made_);
  }

 private:
  std::optional<Quantizer> quantizer_of(ir::NodeId node) const {
    return find_quantizer(*layer_.model, *layer_.inference, node,
                          [&](ir::ValueId value) { return layer_.constant(value); });
  }

  bool read_all() {
    const ir::NodeId last = layer_.nodes.back();
    if (layer_.op(last) == "QuantizeLinear") {
      last_ = quantizer_of(last);
      if (!last_) return false;
      made_.zero_ = last_->zero;
    }
    if (!find_unit()) return false;
    first_unit_ = unit_;
    while (next_ < layer_.nodes.size()) {
      if (!read_node()) return false;
    }
    const bool makes_codes = tensor::bit_width(layer_.outputs[0].dtype) == 8;
    if (makes_codes != last_.has_value() || made_.steps_.size() > kMostFinishSteps) return false;
    drop_needless_bounds();
    return true;
  }

  // That of the quantizer that comes next, or 1, as GELU wants it.
  bool find_unit() {
    const auto next =
        std::find_if(layer_.nodes.begin() + static_cast<std::ptrdiff_t>(next_), layer_.nodes.end(),
                     [&](ir::NodeId node) { return layer_.op(node) == "QuantizeLinear" || layer_.op(node) == "Erf"; });
    const bool has_quantizer = next != layer_.nodes.end() && layer_.op(*next) == "QuantizeLinear";
    const std::optional<Quantizer> quantizer = has_quantizer ? quantizer_of(*next) : Quantizer{.scale = 1};
    if (quantizer) unit_ = quantizer->scale;
    return quantizer.has_value();
  }

  bool read_node() {
    const ir::NodeId node = layer_.nodes[next_];
    const std::string_view op = layer_.op(node);
    if (op == "DequantizeLinear" && layer_.operand(node, 0) != value_) return note_input(node);
    if (op == "QuantizeLinear") return quantize(node);
    if (add_gelu()) return true;
    if (op == "Add") return add(node);
    const std::optional<std::array<float, 2>> bounds = bounds_of(layer_, node, value_);
    if (!bounds) return false;
    push({.op = FinishOp::bound, .least = (*bounds)[0] / unit_, .greatest = (*bounds)[1] / unit_});
    pass(node);
    return true;
  }

  // Codes that are dequantised to be added later.
  bool note_input(ir::NodeId node) {
    const std::optional<Quantizer> quantizer = quantizer_of(node);
    const int input = layer_.input_of(layer_.operand(node, 0));
    ++next_;
    if (!quantizer || input < 0) return false;
    inputs_.emplace_back(layer_.result(node, 0), std::pair(input, *quantizer));
    return true;
  }

  // The last one, or one whose codes are dequantised again.
  bool quantize(ir::NodeId node) {
    const std::optional<Quantizer> to = quantizer_of(node);
    if (!to || layer_.operand(node, 0) != value_) return false;
    pass(node);
    if (next_ == layer_.nodes.size()) return true;
    while (next_ < layer_.nodes.size() && layer_.operand(layer_.nodes[next_], 0) != value_) {
      if (layer_.op(layer_.nodes[next_]) != "DequantizeLinear" || !note_input(layer_.nodes[next_])) return false;
    }
    if (next_ == layer_.nodes.size() || layer_.op(layer_.nodes[next_]) != "DequantizeLinear") return false;
    const std::optional<Quantizer> from = quantizer_of(layer_.nodes[next_]);
    if (!from) return false;
    if (!find_unit()) return false;
    const auto [least, greatest] = range_of(*to);
    push({.op = FinishOp::requantise,
          .factor = from->scale / unit_,
          .offset = static_cast<float>(to->zero - from->zero) * from->scale / unit_,
          .least = least,
          .greatest = greatest});
    pass(layer_.nodes[next_]);
    return true;
  }

  bool add(ir::NodeId node) {
    const bool is_first = layer_.operand(node, 0) == value_;
    if (!is_first && layer_.operand(node, 1) != value_) return false;
    const ir::ValueId other = layer_.operand(node, is_first ? 1 : 0);
    const auto known = std::ranges::find(inputs_, other, [](const auto& input) { return input.first; });
    const bool are_codes = known != inputs_.end();
    const int input = are_codes ? known->second.first : layer_.input_of(other);
    if (other == value_ || input < 0) return false;
    const TensorDesc& desc = layer_.inputs[static_cast<size_t>(input)];
    const TensorDesc& out = layer_.outputs[0];
    if (desc.dims != out.dims || desc.strides != out.strides) return false;
    if (!are_codes && desc.dtype != tensor::DType::float32) return false;
    const Quantizer codes = are_codes ? known->second.second : Quantizer();
    FinishStep step{.op = FinishOp::add,
                    .type = number_type(desc.dtype).value_or(NumberType::float32),
                    .factor = codes.scale / unit_};
    const bool follows_codes = !made_.steps_.empty() && made_.steps_.back().op == FinishOp::requantise;
    float& offset = made_.steps_.empty() ? constant_ : follows_codes ? made_.steps_.back().offset : step.offset;
    offset += static_cast<float>(-codes.zero) * step.factor;
    push(step, input);
    pass(node);
    return true;
  }

  // GELU by erf, for codes whose steps are much larger than what the loops are wrong by.
  bool add_gelu() {
    constexpr float kLeastScale = 5e-4F;
    if (!last_ || last_->scale < kLeastScale || layer_.is_strict) return false;
    const SpelledGelu gelu = match_gelu(layer_, next_, value_);
    if (gelu.nodes == 0 || gelu.is_by_tanh) return false;
    next_ += gelu.nodes - 1;
    pass(layer_.nodes[next_]);
    if (!find_unit()) return false;
    push({.op = FinishOp::gelu, .factor = 1 / unit_});
    return true;
  }

  void push(const FinishStep& step, int added = -1) {
    made_.steps_.push_back(step);
    made_.added_.push_back(added);
  }

  void pass(ir::NodeId node) {
    ++next_;
    value_ = layer_.result(node, 0);
  }

  // Bounds that codes keep anyway.
  void drop_needless_bounds() {
    if (!last_ || made_.steps_.empty() || made_.steps_.back().op != FinishOp::bound) return;
    const auto [least, greatest] = range_of(*last_);
    const FinishStep& step = made_.steps_.back();
    if (step.least > least || step.greatest < greatest) return;
    made_.steps_.pop_back();
    made_.added_.pop_back();
  }

  void set_numbers(std::vector<float> factors, std::vector<float> bias) {
    float most_factor = 0;
    float most_bias = 0;
    for (float& factor : factors) most_factor = std::max(most_factor, factor /= first_unit_);
    for (float& number : bias) most_bias = std::max(most_bias, std::fabs(number = number / first_unit_ + constant_));
    constexpr float kMostSum = 2147483648.0F;
    const bool has_floats = std::ranges::any_of(made_.steps_, [](const FinishStep& step) {
      const bool adds = step.op == FinishOp::add;
      const bool is_scaled = adds || step.op == FinishOp::requantise;
      return (adds && step.type == NumberType::float32) || (is_scaled && step.factor * 512 > kMostSum / 8);
    });
    made_.may_overflow_ = has_floats || !(most_factor < 0.5F) || !(most_bias < kMostSum / 8);
    const auto whole =
        static_cast<size_t>(rounded_up(static_cast<int64_t>(bias.size()), kWholeChannels)) + kWholeChannels;
    factors.resize(whole);
    bias.resize(whole);
    made_.factors_ = std::move(factors);
    made_.bias_ = std::move(bias);
  }

  const Layer& layer_;
  size_t next_;
  ir::ValueId value_;  // that the steps have
  std::optional<Quantizer> last_;
  float unit_ = 1;
  float first_unit_ = 1;  // of the sums
  float constant_ = 0;    // is added to all biases
  std::vector<std::pair<ir::ValueId, std::pair<int, Quantizer>>> inputs_;
  IntegerEpilogue made_;
};

std::optional<IntegerEpilogue> IntegerEpilogue::make(const Layer& layer, const QuantizedProduct& product, size_t done) {
  const bool is_conv = layer.op(product.product) == "Conv";
  const bool is_turned = layer.op(product.product) == "Gemm" && layer.facts(product.product).flag("transB");
  const auto channels = static_cast<size_t>(product.weights->shape()[is_conv || is_turned ? 0 : 1]);
  std::vector<float> factors(channels);
  for (size_t i = 0; i < channels; ++i) {
    factors[i] = product.quantizer.scale * product.scales[product.scales.size() == 1 ? 0 : i];
  }
  std::vector<float> bias = product.bias;
  bias.resize(channels);
  return IntegerEpilogueMaker(layer, done).make(std::move(factors), std::move(bias));
}

std::optional<IntegerEpilogue> IntegerEpilogue::make(const Layer& layer, int64_t channels, size_t done) {
  const auto count = static_cast<size_t>(channels);
  return IntegerEpilogueMaker(layer, done).make(std::vector<float>(count, 1), std::vector<float>(count));
}

bool IntegerEpilogue::fits_tiles() const {
  const bool makes_codes = out_type_ == tensor::DType::int8 || out_type_ == tensor::DType::uint8;
  return makes_codes && !has_tape() && std::ranges::none_of(steps_, [](const FinishStep& step) {
           return step.op == FinishOp::gelu || (step.op == FinishOp::add && step.type == NumberType::float32);
         });
}

bool IntegerEpilogue::adds_nothing() const {
  return !has_tape() && std::ranges::none_of(steps_, [](const FinishStep& step) { return step.op == FinishOp::add; });
}

IntegerEpilogue::Run::Run(const IntegerEpilogue& epilogue, const Arguments& arguments)
    : epilogue_(epilogue), arguments_(arguments) {
  for (size_t i = 0; i < epilogue.steps_.size(); ++i) {
    steps_[i] = epilogue.steps_[i];
    const int input = epilogue.added_[i];
    if (input >= 0) steps_[i].added = host<const std::byte>(arguments.inputs[static_cast<size_t>(input)]);
  }
  rows_ = {.steps = steps_.data(),
           .step_count = epilogue.steps_.size(),
           .type = epilogue.has_tape() ? NumberType::float32 : *number_type(epilogue.out_type_),
           .zero = epilogue.zero_,
           .may_overflow = epilogue.may_overflow_,
           .out = host<std::byte>(arguments.outputs[0])};
}

void IntegerEpilogue::Run::finish(const SumRows& rows) {
  rows_.sums = rows.sums;
  rows_.sums_row = rows.sums_row;
  rows_.rows = static_cast<size_t>(rows.rows);
  rows_.channels = static_cast<size_t>(rows.channels);
  rows_.factors = epilogue_.factors_.data() + rows.channel;
  rows_.bias = epilogue_.bias_.data() + rows.channel;
  if (!epilogue_.has_tape()) {
    rows_.first = rows.first;
    rows_.out_row = rows.pitch;
    return finish_rows(rows_);
  }
  rows_.out = rows.sums;
  rows_.out_row = rows.sums_row;
  finish_rows(rows_);
  const int64_t bytes = float_bytes(epilogue_.out_type_);
  epilogue_.tape_.run_rows({rows.sums, rows.sums_row}, host<std::byte>(arguments_.outputs[0]) + rows.first * bytes,
                           arguments_.inputs, {rows.first, rows.pitch, rows.rows, rows.channels});
}

const FinishRows& IntegerEpilogue::Run::in_tiles(int64_t channel, int64_t channels, int64_t pitch) {
  rows_.channels = static_cast<size_t>(channels);
  rows_.factors = epilogue_.factors_.data() + channel;
  rows_.bias = epilogue_.bias_.data() + channel;
  rows_.out_row = pitch;
  return rows_;
}

}  // namespace assay::engine::cpu
