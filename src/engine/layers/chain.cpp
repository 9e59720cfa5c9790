#include "engine/layers/chain.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "engine/layers/elementwise.h"
#include "engine/layers/float8_pair.h"
#include "engine/layers/quantization.h"
#include "engine/layers/spelled_gelu.h"
#include "engine/layers/spelled_hard_swish.h"
#include "tensor/elements.h"

namespace assay::engine {
namespace {

// True if one node uses a value, in one place: what follows does not need it then.
bool is_used_once(const Layer& layer, ir::ValueId value) {
  const ir::Use* const use = (*layer.model)[value].first_use;
  return use != nullptr && use->next == nullptr;
}

class ChainReader {
 public:
  ChainReader(const Layer& layer, ir::ValueId given) : layer_(layer) {
    if (!given.valid()) return;
    registers_[given] = 0;
    chain_.given_type = layer.desc_of(given).dtype;
  }

  std::optional<Chain> read(size_t first) {
    if (layer_.outputs.size() != 1) return std::nullopt;
    for (size_t i = first; i < layer_.nodes.size();) {
      const size_t taken = std::max({add_gelu(i), add_swish(i), add_hard_swish(i), add_scaled_sum(i)});
      if (taken == 0 && !add_step(layer_.nodes[i])) return std::nullopt;
      i += std::max<size_t>(taken, 1);
    }
    const auto result = registers_.find(layer_.output_values[0]);
    if (result == registers_.end()) return std::nullopt;
    chain_.result = result->second;
    return std::move(chain_);
  }

 private:
  // The register of an operand; -1: it is computed elsewhere.
  int register_of(ir::ValueId value) {
    const auto known = registers_.find(value);
    if (known != registers_.end()) return known->second;
    const int input = layer_.input_of(value);
    return input < 0 ? -1 : registers_[value] = add_register(input);
  }

  int add_register(int input) {
    chain_.inputs.push_back(input);
    return static_cast<int>(chain_.inputs.size());
  }

  std::optional<float> number(ir::NodeId node, uint32_t index, float otherwise) const {
    const ir::ValueId value = layer_.operand(node, index);
    if (!value.valid()) return otherwise;
    const tensor::Tensor* const constant = layer_.constant(value);
    if (constant == nullptr || constant->count() != 1) return std::nullopt;
    return static_cast<float>(tensor::load_elements<double>(*constant).front());
  }

  bool read_numbers(ir::NodeId node, Chain::Step& step) const {
    const ops::Node facts = layer_.facts(node);
    const auto attribute = [&](const char* name, double otherwise) {
      return static_cast<float>(facts.floating(name, otherwise));
    };
    switch (step.op) {
      case ElementOp::leaky_relu:
        step.p = attribute("alpha", 0.01);
        return true;
      case ElementOp::elu:
      case ElementOp::celu:
      case ElementOp::thresholded_relu:
        step.p = attribute("alpha", 1);
        return true;
      case ElementOp::selu:
        step.p = attribute("alpha", 1.67326319217681884765625);
        step.q = attribute("gamma", 1.05070102214813232421875);
        return true;
      case ElementOp::hard_sigmoid:
        step.p = attribute("alpha", 0.2);
        step.q = attribute("beta", 0.5);
        return true;
      case ElementOp::is_infinite:
        step.p = facts.integer("detect_positive", 1) != 0 ? 1 : 0;
        step.q = facts.integer("detect_negative", 1) != 0 ? 1 : 0;
        return true;
      case ElementOp::gelu:
        if (facts.string("approximate", "none") == "tanh") step.op = ElementOp::gelu_tanh;
        return true;
      case ElementOp::dequantize:
      case ElementOp::quantize_signed:
        return read_quantizer(node, step);
      case ElementOp::clip:
        return read_bounds(node, facts, step);
      case ElementOp::copy:
        step.op = copy_to(layer_.desc_of(layer_.result(node, 0)).dtype);
        if (is_rounding_to_float8(step.op)) step.p = step.q = 1;
        return true;
      default:
        return true;
    }
  }

  static ElementOp copy_to(tensor::DType dtype) {
    if (dtype == tensor::DType::boolean) return ElementOp::is_true;
    if (dtype == tensor::DType::float16) return ElementOp::round_to_float16;
    if (dtype == tensor::DType::float8e4m3fn) return ElementOp::quantize_e4m3;
    if (dtype == tensor::DType::float8e5m2) return ElementOp::quantize_e5m2;
    return dtype == tensor::DType::bfloat16 ? ElementOp::round_to_bfloat16 : ElementOp::copy;
  }

  static bool is_rounding_to_float8(ElementOp op) {
    return op == ElementOp::quantize_e4m3 || op == ElementOp::quantize_e5m2;
  }

  bool is_float8_step(ir::NodeId node) const { return engine::is_float8_step(*layer_.model, *layer_.inference, node); }

  bool read_quantizer(ir::NodeId node, Chain::Step& step) const {
    if (is_float8_step(node)) {
      if (step.op == ElementOp::quantize_signed) step.op = copy_to(layer_.desc_of(layer_.result(node, 0)).dtype);
      const std::optional<float> scale = number(node, 1, 1);
      step.p = scale.value_or(1);
      if (is_rounding_to_float8(step.op)) step.q = 1 / step.p;
      return scale.has_value();
    }
    const std::optional<Quantizer> quantizer =
        find_quantizer(*layer_.model, *layer_.inference, node, layer_.constants_by_value());
    if (!quantizer) return false;
    step.p = quantizer->scale;
    step.q = static_cast<float>(quantizer->zero);
    const bool is_unsigned = quantizer->codes == tensor::DType::uint8;
    if (step.op == ElementOp::quantize_signed && is_unsigned) step.op = ElementOp::quantize_unsigned;
    return true;
  }

  bool read_bounds(ir::NodeId node, const ops::Node& facts, Chain::Step& step) const {
    constexpr float kMost = std::numeric_limits<float>::max();
    constexpr int64_t kFirstWithInputs = 11;
    if (facts.version() < kFirstWithInputs) {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();  // used if the schema has no default
      step.p = static_cast<float>(facts.floating("min", -kInfinity));
      step.q = static_cast<float>(facts.floating("max", kInfinity));
      return true;
    }
    const std::optional<float> low = number(node, 1, -kMost);
    const std::optional<float> high = number(node, 2, kMost);
    step.p = low.value_or(0);
    step.q = high.value_or(0);
    return low && high;
  }

  // A written-out GELU becomes one step; returns of how many nodes it is, 0: there is none.
  size_t add_gelu(size_t first) {
    if (layer_.is_strict) return 0;
    for (const uint32_t index : {0U, 1U}) {
      const ir::ValueId given = layer_.operand(layer_.nodes[first], index);
      const SpelledGelu gelu = match_gelu(layer_, first, given);
      if (gelu.nodes == 0) continue;
      const ir::ValueId result = layer_.result(layer_.nodes[first + gelu.nodes - 1], 0);
      const int in = has_all_dims(result) ? register_of(given) : -1;
      if (in < 0) return 0;
      push_step({.op = gelu.is_by_tanh ? ElementOp::gelu_tanh : ElementOp::gelu, .a = in}, result);
      return gelu.nodes;
    }
    return 0;
  }

  // Adds a Sigmoid times its operand as one step, in strict engines too: it rounds less often than its parts do; and a
  // HardSigmoid whose numbers are those of HardSwish, which keeps the bits.
  size_t add_swish(size_t first) {
    if (layer_.nodes.size() < first + 2) return 0;
    const ir::NodeId node = layer_.nodes[first], product = layer_.nodes[first + 1];
    const bool is_hard = layer_.op(node) == "HardSigmoid" && is_sixth(node);
    if (!is_hard && layer_.op(node) != "Sigmoid") return 0;
    const ir::ValueId given = layer_.operand(node, 0), share = layer_.result(node, 0);
    const std::array operands = {layer_.operand(product, 0), layer_.operand(product, 1)};
    const bool is_swish =
        layer_.op(product) == "Mul" && (operands == std::array{given, share} || operands == std::array{share, given});
    if (!is_swish || !is_used_once(layer_, share)) return 0;
    const int in = register_of(given);
    if (in < 0 || !has_all_dims(share)) return 0;
    push_step({.op = is_hard ? ElementOp::hard_swish : ElementOp::silu, .a = in}, layer_.result(product, 0));
    return 2;
  }

  bool is_sixth(ir::NodeId hard_sigmoid) const {
    Chain::Step step{.op = ElementOp::hard_sigmoid};
    return read_numbers(hard_sigmoid, step) && step.p == 1.0F / 6 && step.q == 0.5F;
  }

  // A written-out HardSwish: a product by the share of its bound instead of a division.
  size_t add_hard_swish(size_t first) {
    const SpelledHardSwish swish = layer_.is_strict ? SpelledHardSwish() : match_hard_swish(layer_, first);
    if (swish.nodes == 0) return 0;
    const bool is_right = layer_.constant(layer_.operand(layer_.nodes[first], 0)) != nullptr;
    const int in = register_of(layer_.operand(layer_.nodes[first], is_right ? 1 : 0));
    const ir::ValueId result = layer_.result(layer_.nodes[first + swish.nodes - 1], 0);
    if (in < 0 || !has_all_dims(result)) return 0;
    push_step({.op = ElementOp::shifted_swish, .a = in, .p = swish.shift, .q = swish.most}, result);
    return swish.nodes;
  }

  // An operand that is multiplied by a number, and to which one is added. The bits are those of the operator.
  struct Scaled {
    ir::ValueId given;
    float factor, sum;
  };
  std::optional<Scaled> scaled_sum(ir::NodeId node) const {
    constexpr float kNothing = -0.0F;  // keeps the sign of zeros
    const std::string_view op = layer_.op(node);
    if (op != "Add" && op != "Sub" && op != "Mul") return std::nullopt;
    const ir::ValueId left = layer_.operand(node, 0), right = layer_.operand(node, 1);
    const bool is_right = layer_.constant(right) != nullptr;
    const std::optional<float> number = this->number(node, is_right ? 1 : 0, 0);
    if (!number || !is_short_float(layer_.desc_of(layer_.result(node, 0)).dtype)) return std::nullopt;
    if (op == "Mul") return Scaled{is_right ? left : right, *number, kNothing};
    if (op == "Add") return Scaled{is_right ? left : right, 1, *number};
    return is_right ? Scaled{left, 1, -*number} : Scaled{right, -1, *number};
  }

  // A sum or product with a number, or, where rounding once in place of twice is permitted, a product and a sum.
  size_t add_scaled_sum(size_t first) {
    std::optional<Scaled> found = scaled_sum(layer_.nodes[first]);
    if (!found) return 0;
    ir::ValueId result = layer_.result(layer_.nodes[first], 0);
    size_t taken = 1;
    const bool is_joined = !layer_.is_strict && layer_.op(layer_.nodes[first]) == "Mul" && is_used_once(layer_, result);
    if (is_joined && first + 1 < layer_.nodes.size()) {
      const std::optional<Scaled> next = scaled_sum(layer_.nodes[first + 1]);
      if (next && next->given == result && layer_.op(layer_.nodes[first + 1]) != "Mul") {
        found = Scaled{found->given, found->factor * next->factor, next->sum};
        result = layer_.result(layer_.nodes[first + 1], 0);
        taken = 2;
      }
    }
    if (!has_all_dims(result)) return 0;
    const int in = register_of(found->given);
    if (in < 0) return 0;
    push_step({.op = ElementOp::scaled_sum, .a = in, .p = found->factor, .q = found->sum}, result);
    return taken;
  }

  void push_step(Chain::Step step, ir::ValueId result) {
    step.dtype = layer_.desc_of(result).dtype;
    step.out = registers_[result] = add_register(-1);
    chain_.steps.push_back(step);
  }

  bool add_step(ir::NodeId node) {
    if (!is_elementwise(*layer_.inference, *layer_.model, node) && !is_float8_step(node)) return false;
    const std::optional<ElementOp> op = element_op(layer_.op(node), layer_.facts(node).version());
    if (!op || !layer_.result(node, 0).valid()) return false;
    const bool is_spread = *op == ElementOp::dequantize && layer_.input_of(layer_.operand(node, 0)) >= 0;
    if (!is_spread && !has_all_dims(layer_.result(node, 0))) return false;
    Chain::Step step{.op = *op};
    step.a = register_of(layer_.operand(node, 0));
    const bool is_choice = step.op == ElementOp::select;
    step.b = step.op <= kLastBinary || is_choice ? register_of(layer_.operand(node, 1)) : 0;
    step.c = is_choice ? register_of(layer_.operand(node, 2)) : 0;
    if (step.a < 0 || step.b < 0 || step.c < 0 || !read_numbers(node, step)) return false;
    simplify_power(node, step);
    push_step(step, layer_.result(node, 0));
    return true;
  }

  bool has_all_dims(ir::ValueId value) const { return layer_.desc_of(value).count() == layer_.outputs[0].count(); }

  // Squares and cubes are products.
  void simplify_power(ir::NodeId node, Chain::Step& step) const {
    if (step.op != ElementOp::power) return;
    const std::optional<float> exponent = number(node, 1, 1);
    if (exponent == 2.0F) {
      step.op = ElementOp::multiply;
      step.b = step.a;
    } else if (exponent == 3.0F) {
      step.op = ElementOp::cube;
    }
  }

  const Layer& layer_;
  Chain chain_;
  std::map<ir::ValueId, int> registers_;
};

}  // namespace

int64_t Chain::uses(int reg) const {
  int64_t count = 0;
  for (const Step& step : steps) {
    count += step.a == reg ? 1 : 0;
    if (step.op <= ElementOp::select) count += step.b == reg ? 1 : 0;
    if (step.op == ElementOp::select) count += step.c == reg ? 1 : 0;
  }
  return count;
}

void Chain::drop_first() {
  const int dropped = steps[0].out;
  given_type = steps[0].dtype;
  steps.erase(steps.begin());
  const auto given = [&](int reg) { return reg == dropped ? 0 : reg; };
  for (Step& step : steps) {
    step.a = given(step.a);
    step.b = given(step.b);
    step.c = given(step.c);
  }
  result = given(result);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (uses(static_cast<int>(i) + 1) == 0) inputs[i] = -1;
  }
}

std::optional<Chain> find_chain(const Layer& layer, size_t first, ir::ValueId given) {
  return ChainReader(layer, given).read(first);
}

}  // namespace assay::engine
