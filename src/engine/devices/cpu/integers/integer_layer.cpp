#include "engine/devices/cpu/integers/integer_layer.h"

#include "engine/devices/cpu/integers/integer_math.h"

namespace assay::engine::cpu {
namespace {

using tensor::DType;

// With the attributes that decide what is computed, and the operands that are given.
ElementOp spelled_out(const Layer& layer, const ops::Node& facts, ElementOp op) {
  if (op == ElementOp::modulo && facts.flag("fmod")) return ElementOp::remainder;
  if (op == ElementOp::shift_left && facts.string("direction") == "RIGHT") return ElementOp::shift_right;
  const auto is_given = [&](size_t input) { return input < layer.inputs.size() && layer.inputs[input].exists(); };
  if (op == ElementOp::clip && !is_given(2)) return ElementOp::maximum;
  if (op == ElementOp::clip && !is_given(1)) return ElementOp::minimum;
  return op;
}

struct Loop {
  ElementLoop loop = nullptr;
  size_t operands = 0;
};

size_t operand_count(ElementOp op) {
  if (is_unary(op)) return 1;
  return op == ElementOp::clip ? 3 : 2;
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
  const ops::Node facts = layer.facts(node);
  const std::optional<ElementOp> named = element_op(layer.op(node), facts.version());
  if (!named) return {};
  const ElementOp op = spelled_out(layer, facts, *named);
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
