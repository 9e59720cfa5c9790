#include "engine/devices/cpu/integers/integer_layer.h"

#include <algorithm>
#include <array>

#include "engine/devices/cpu/integers/integer_math.h"

namespace assay::engine::cpu {
namespace {

using tensor::DType;

struct Name {
  std::string_view op;
  IntegerOp code;
  int64_t since;  // the version from which on operands are broadcast as they are here
};
constexpr std::array kNames = {Name{"Add", IntegerOp::add, 7},
                               Name{"Sub", IntegerOp::subtract, 7},
                               Name{"Mul", IntegerOp::multiply, 7},
                               Name{"Div", IntegerOp::divide, 7},
                               Name{"Mod", IntegerOp::modulo, 10},
                               Name{"Max", IntegerOp::maximum, 8},
                               Name{"Min", IntegerOp::minimum, 8},
                               Name{"BitwiseAnd", IntegerOp::bits_and, 18},
                               Name{"BitwiseOr", IntegerOp::bits_or, 18},
                               Name{"BitwiseXor", IntegerOp::bits_xor, 18},
                               Name{"BitwiseNot", IntegerOp::bits_not, 18},
                               Name{"BitShift", IntegerOp::shift_left, 11},
                               Name{"Neg", IntegerOp::negate, 6},
                               Name{"Abs", IntegerOp::absolute, 6},
                               Name{"Sign", IntegerOp::sign, 9},
                               Name{"Clip", IntegerOp::clip, 12},
                               Name{"Less", IntegerOp::less, 7},
                               Name{"Greater", IntegerOp::greater, 7},
                               Name{"LessOrEqual", IntegerOp::less_or_equal, 12},
                               Name{"GreaterOrEqual", IntegerOp::greater_or_equal, 12},
                               Name{"Equal", IntegerOp::equal, 7}};

// With the attributes that decide what is computed, and the operands that are given.
IntegerOp spelled_out(const Layer& layer, const ops::Node& facts, IntegerOp op) {
  if (op == IntegerOp::modulo && facts.flag("fmod")) return IntegerOp::remainder;
  if (op == IntegerOp::shift_left && facts.string("direction") == "RIGHT") return IntegerOp::shift_right;
  const auto is_given = [&](size_t input) { return input < layer.inputs.size() && layer.inputs[input].exists(); };
  if (op == IntegerOp::clip && !is_given(2)) return IntegerOp::maximum;
  if (op == IntegerOp::clip && !is_given(1)) return IntegerOp::minimum;
  return op;
}

struct Loop {
  ElementLoop loop = nullptr;
  size_t operands = 0;
};

size_t operand_count(IntegerOp op) {
  if (is_unary(op)) return 1;
  return op == IntegerOp::clip ? 3 : 2;
}

Loop find_loop(const Layer& layer) {
  const ir::NodeId node = layer.nodes.front();
  const DType type = layer.inputs[0].dtype;
  const DType made = layer.outputs[0].dtype;
  const auto is_of_chains = [](DType dtype) { return dtype == DType::float32 || dtype == DType::boolean; };
  if (layer.op(node) == "Cast" || layer.op(node) == "CastLike") {
    if (is_of_chains(type) && is_of_chains(made)) return {};
    return {integer_kernels().find_cast(type, made), 1};
  }
  if (layer.op(node) == "Where") {
    if (is_of_chains(made)) return {};
    return {integer_kernels().find_choice(tensor::bit_width(made) / 8), 3};
  }
  const auto name = std::ranges::find(kNames, layer.op(node), &Name::op);
  const ops::Node facts = layer.facts(node);
  if (name == kNames.end() || facts.version() < name->since) return {};
  const IntegerOp op = spelled_out(layer, facts, name->code);
  return {integer_kernels().find(op, type), operand_count(op)};
}

}  // namespace

std::optional<IntegerLayer> find_integer_layer(const Layer& layer) {
  const bool is_operator = layer.is_single() && layer.model->text((*layer.model)[layer.nodes[0]].domain).empty();
  if (!is_operator || layer.inputs.empty() || layer.outputs.size() != 1 || !layer.inputs[0].exists()) return {};
  const Loop found = find_loop(layer);
  IntegerLayer made{.loop = found.loop, .operands = {}};
  const bool is_like = layer.op(layer.nodes[0]) == "CastLike";
  for (size_t i = 0; i < (is_like ? 1 : layer.inputs.size()); ++i) {
    if (layer.inputs[i].exists()) made.operands.push_back(i);
  }
  const bool fits = made.loop != nullptr && made.operands.size() == found.operands;
  return fits ? std::optional(std::move(made)) : std::nullopt;
}

}  // namespace assay::engine::cpu
