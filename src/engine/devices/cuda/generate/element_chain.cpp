#include "engine/devices/cuda/generate/element_chain.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/layers/form.h"
#include "ops/traits.h"

namespace assay::engine::cuda {
namespace {

using tensor::DType;

// A function of elements.cu.
struct Function {
  ElementOp op;
  std::string_view name;
  int numbers = 0;
};

constexpr std::array kFunctions = {Function{ElementOp::add, "add"},
                                   Function{ElementOp::subtract, "subtract"},
                                   Function{ElementOp::multiply, "multiply"},
                                   Function{ElementOp::divide, "divide"},
                                   Function{ElementOp::maximum, "maximum"},
                                   Function{ElementOp::minimum, "minimum"},
                                   Function{ElementOp::power, "power"},
                                   Function{ElementOp::prelu, "prelu"},
                                   Function{ElementOp::less, "less"},
                                   Function{ElementOp::greater, "greater"},
                                   Function{ElementOp::less_or_equal, "less_or_equal"},
                                   Function{ElementOp::greater_or_equal, "greater_or_equal"},
                                   Function{ElementOp::equal, "equal"},
                                   Function{ElementOp::logical_and, "logical_and"},
                                   Function{ElementOp::logical_or, "logical_or"},
                                   Function{ElementOp::logical_xor, "logical_xor"},
                                   Function{ElementOp::select, "select"},
                                   Function{ElementOp::copy, "copy"},
                                   Function{ElementOp::round_to_bfloat16, "round_to_bfloat16"},
                                   Function{ElementOp::round_to_float16, "round_to_float16"},
                                   Function{ElementOp::dequantize, "dequantize", 2},
                                   Function{ElementOp::quantize_signed, "quantize_signed", 2},
                                   Function{ElementOp::quantize_unsigned, "quantize_unsigned", 2},
                                   Function{ElementOp::quantize_e4m3, "quantize_e4m3", 2},
                                   Function{ElementOp::quantize_e5m2, "quantize_e5m2", 2},
                                   Function{ElementOp::cube, "cube"},
                                   Function{ElementOp::relu, "relu"},
                                   Function{ElementOp::leaky_relu, "leaky_relu", 1},
                                   Function{ElementOp::sigmoid, "sigmoid"},
                                   Function{ElementOp::silu, "silu"},
                                   Function{ElementOp::tanh, "tanhf"},
                                   Function{ElementOp::elu, "elu", 1},
                                   Function{ElementOp::selu, "selu", 2},
                                   Function{ElementOp::hard_swish, "hard_swish"},
                                   Function{ElementOp::shifted_swish, "shifted_swish", 2},
                                   Function{ElementOp::scaled_sum, "scaled_sum", 2},
                                   Function{ElementOp::hard_sigmoid, "hard_sigmoid", 2},
                                   Function{ElementOp::softplus, "softplus"},
                                   Function{ElementOp::softsign, "softsign"},
                                   Function{ElementOp::gelu, "gelu"},
                                   Function{ElementOp::gelu_tanh, "gelu_tanh"},
                                   Function{ElementOp::mish, "mish"},
                                   Function{ElementOp::erf, "erff"},
                                   Function{ElementOp::exp, "expf"},
                                   Function{ElementOp::log, "logf"},
                                   Function{ElementOp::sqrt, "sqrtf"},
                                   Function{ElementOp::reciprocal, "reciprocal"},
                                   Function{ElementOp::negate, "negate"},
                                   Function{ElementOp::abs, "absolute"},
                                   Function{ElementOp::clip, "clip", 2},
                                   Function{ElementOp::floor, "floorf"},
                                   Function{ElementOp::ceil, "ceilf"},
                                   Function{ElementOp::round, "rintf"},
                                   Function{ElementOp::sign, "sign"},
                                   Function{ElementOp::sine, "sinf"},
                                   Function{ElementOp::cosine, "cosf"},
                                   Function{ElementOp::celu, "celu", 1},
                                   Function{ElementOp::thresholded_relu, "thresholded_relu", 1},
                                   Function{ElementOp::logical_not, "logical_not"},
                                   Function{ElementOp::is_true, "is_true"},
                                   Function{ElementOp::is_nan, "is_nan"},
                                   Function{ElementOp::is_infinite, "is_infinite", 2}};

// A function of exact numbers, with as many operands.
struct ExactFunction {
  ElementOp op;
  std::string_view name;
  size_t operands = 2;
  bool is_of_bits = false;  // has no meaning for float64
};

constexpr std::array kExactFunctions = {ExactFunction{ElementOp::add, "add"},
                                        ExactFunction{ElementOp::subtract, "subtract"},
                                        ExactFunction{ElementOp::multiply, "multiply"},
                                        ExactFunction{ElementOp::divide, "divide"},
                                        ExactFunction{ElementOp::modulo, "modulo", 2, true},
                                        ExactFunction{ElementOp::remainder, "remainder", 2, true},
                                        ExactFunction{ElementOp::maximum, "maximum"},
                                        ExactFunction{ElementOp::minimum, "minimum"},
                                        ExactFunction{ElementOp::less, "less"},
                                        ExactFunction{ElementOp::greater, "greater"},
                                        ExactFunction{ElementOp::less_or_equal, "less_or_equal"},
                                        ExactFunction{ElementOp::greater_or_equal, "greater_or_equal"},
                                        ExactFunction{ElementOp::equal, "equal"},
                                        ExactFunction{ElementOp::clip, "clip", 3},
                                        ExactFunction{ElementOp::negate, "negate", 1},
                                        ExactFunction{ElementOp::abs, "absolute", 1},
                                        ExactFunction{ElementOp::sign, "sign", 1},
                                        ExactFunction{ElementOp::bits_and, "bits_and", 2, true},
                                        ExactFunction{ElementOp::bits_or, "bits_or", 2, true},
                                        ExactFunction{ElementOp::bits_xor, "bits_xor", 2, true},
                                        ExactFunction{ElementOp::bits_not, "bits_not", 1, true},
                                        ExactFunction{ElementOp::shift_left, "shift_left", 2, true},
                                        ExactFunction{ElementOp::shift_right, "shift_right", 2, true}};

// With the attributes that decide what is computed, and the operands that are given.
ElementOp spelled_out(const Layer& layer, const ops::Node& facts, ElementOp op) {
  if (op == ElementOp::modulo && facts.flag("fmod")) return ElementOp::remainder;
  if (op == ElementOp::shift_left && facts.string("direction") == "RIGHT") return ElementOp::shift_right;
  const auto is_given = [&](size_t input) { return input < layer.inputs.size() && layer.inputs[input].exists(); };
  if (op == ElementOp::clip && !is_given(2)) return ElementOp::maximum;
  if (op == ElementOp::clip && !is_given(1)) return ElementOp::minimum;
  return op;
}

// The expression that a single operator of exact numbers is; empty: it has none.
std::string exact_expression(const Layer& layer, size_t operands) {
  const ir::NodeId node = layer.nodes.front();
  const DType made = layer.outputs[0].dtype;
  if (ops::traits(*layer.model, node).is_cast()) {
    const std::string_view from = is_read_as_float(layer.inputs[0].dtype) ? "widened(x0)" : "x0";
    if (made == DType::float8e4m3fn) return {};  // too large ones become NaN
    if (made == DType::boolean) return fmt::format("(uint8)({} != 0)", from);
    if (is_short_float(made)) return fmt::format("(float){}", from);
    return fmt::format("Cast<{}>::of({})", element_type(made), from);
  }
  const DType type = layer.inputs[0].dtype;
  const ops::Node facts = layer.facts(node);
  const std::optional<ElementOp> named = element_op(layer.op(node), facts.version());
  if (!named) return {};
  if (named == ElementOp::select) return operands == 3 ? "exact_select(x0, x1, x2)" : "";
  if (is_short_float(type) || type == DType::boolean) return {};
  const auto* const function =
      std::ranges::find(kExactFunctions, spelled_out(layer, facts, *named), &ExactFunction::op);
  if (function == kExactFunctions.end() || function->operands != operands) return {};
  if (function->is_of_bits && type == DType::float64) return {};
  constexpr std::array<std::string_view, 4> kOperands = {"", "x0", "x0, x1", "x0, x1, x2"};
  return fmt::format("exact_{}<{}>({})", function->name, element_type(type), kOperands[operands]);
}

std::optional<ElementText> find_exact(const Layer& layer) {
  const bool is_operator = layer.is_single() && layer.model->text((*layer.model)[layer.nodes[0]].domain).empty();
  if (!is_operator || layer.inputs.empty() || layer.outputs.size() != 1 || !layer.inputs[0].exists()) return {};
  ElementText text{.is_exact = true, .type = layer.outputs[0].dtype};
  const bool is_cast = ops::traits(*layer.model, layer.nodes[0]).is_cast();  // another operand gives a type only
  for (size_t i = 0; i < (is_cast ? 1 : layer.inputs.size()); ++i) {
    if (!layer.inputs[i].exists()) continue;
    if (element_type(layer.inputs[i].dtype).empty()) return {};
    text.inputs.push_back(static_cast<int>(i));
  }
  if (element_type(text.type).empty() || text.inputs.size() > 3) return {};
  const std::string expression = exact_expression(layer, text.inputs.size());
  if (expression.empty()) return {};
  text.statements = fmt::format("    const auto made = {};\n", expression);
  return text;
}

// The variable of a register: for what is given, an operand, or the result of a step.
std::string register_name(int reg) { return reg == 0 ? "given" : fmt::format("v{}", reg); }

// The operand of an input; operands that are the same input are one.
int operand_of(std::vector<int>& inputs, int input) {
  const auto known = std::ranges::find(inputs, input);
  if (known != inputs.end()) return static_cast<int>(known - inputs.begin());
  inputs.push_back(input);
  return static_cast<int>(inputs.size()) - 1;
}

// The name of a function that is good enough for results of 16 bits; empty: the usual one is.
std::string_view short_name(ElementOp op) {
  switch (op) {
    case ElementOp::gelu:
      return "short_gelu";
    case ElementOp::gelu_tanh:
      return "short_gelu_tanh";
    case ElementOp::sigmoid:
      return "short_sigmoid";
    case ElementOp::silu:
      return "short_silu";
    default:
      return {};
  }
}

void add_step(const Chain::Step& step, bool is_short, ElementText& text) {
  const auto* const function = std::ranges::find(kFunctions, step.op, &Function::op);
  const std::string_view shorter = is_short ? short_name(step.op) : "";
  std::string operands = register_name(step.a);
  if (step.op <= kLastBinary || step.op == ElementOp::select) operands += ", " + register_name(step.b);
  if (step.op == ElementOp::select) operands += ", " + register_name(step.c);
  const std::array numbers = {step.p, step.q};
  for (int i = 0; i < function->numbers; ++i) {
    operands += fmt::format(", NUMBER(kNumbers + {})", text.numbers.size());
    text.numbers.push_back(numbers[static_cast<size_t>(i)]);
  }
  text.statements +=
      fmt::format("    const float v{} = {}({});\n", step.out, shorter.empty() ? function->name : shorter, operands);
}

}  // namespace

std::string_view element_type(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return "float";
    case DType::float16:
      return "half";
    case DType::bfloat16:
      return "bfloat";
    case DType::float8e4m3fn:
      return "e4m3";
    case DType::float64:
      return "double";
    case DType::boolean:
    case DType::uint8:
      return "uint8";
    case DType::int8:
      return "int8";
    case DType::uint16:
      return "uint16";
    case DType::int16:
      return "int16";
    case DType::uint32:
      return "uint32";
    case DType::int32:
      return "int32";
    case DType::uint64:
      return "uint64";
    case DType::int64:
      return "int64";
    default:
      return {};
  }
}

bool is_read_as_float(DType dtype) {
  return is_short_float(dtype) || dtype == DType::float8e4m3fn || dtype == DType::boolean || dtype == DType::uint8 ||
         dtype == DType::int8;
}

std::optional<ElementText> chain_text(const Layer& layer, const Chain& chain) {
  ElementText text{.type = layer.outputs.front().dtype};
  if (!is_read_as_float(text.type) || !is_read_as_float(chain.given_type)) return {};
  for (size_t reg = 1; reg <= chain.inputs.size(); ++reg) {
    const int input = chain.input_of(static_cast<int>(reg));
    if (input < 0) continue;
    if (!is_read_as_float(layer.inputs[static_cast<size_t>(input)].dtype)) return {};
    text.statements += fmt::format("    const float v{} = x{};\n", reg, operand_of(text.inputs, input));
  }
  const bool is_short = !layer.is_strict && (is_half(text.type) || text.type == DType::float8e4m3fn);
  for (const Chain::Step& step : chain.steps) {
    if (std::ranges::find(kFunctions, step.op, &Function::op) == kFunctions.end()) return {};
    add_step(step, is_short, text);
  }
  text.statements += fmt::format("    const float made = {};\n", register_name(chain.result));
  return text;
}

std::optional<ElementText> find_element_chain(const Layer& layer) {
  if (const auto* const chain = form_as<Chain>(layer); chain != nullptr) {
    if (std::optional<ElementText> text = chain_text(layer, *chain)) return text;
  }
  return find_exact(layer);
}

}  // namespace assay::engine::cuda
