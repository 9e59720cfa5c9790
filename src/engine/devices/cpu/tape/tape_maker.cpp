#include "engine/devices/cpu/rows/floats.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/layers/element_walk.h"

namespace assay::engine::cpu {
namespace {

// True for operations that have a cheaper loop where results are rounded to bfloat16.
bool has_coarse_loop(ElementOp op) {
  return op == ElementOp::sigmoid || op == ElementOp::silu || op == ElementOp::tanh || op == ElementOp::gelu ||
         op == ElementOp::gelu_tanh;
}

}  // namespace

std::optional<Tape> Tape::make(const Layer& layer, const Chain& chain) {
  const TensorDesc& out = layer.outputs.front();
  Tape tape;
  tape.given_type_ = chain.given_type;
  tape.out_type_ = out.dtype;
  tape.result_ = chain.result;
  if (!is_readable(out.dtype) || !is_readable(chain.given_type) || chain.inputs.size() >= kMostRegisters) return {};
  tape.extents_ = walked_extents(out);
  for (const int input : chain.inputs) {
    tape.operands_.push_back({.input = input, .strides = {}});
    if (input < 0) continue;
    const TensorDesc& desc = layer.inputs[static_cast<size_t>(input)];
    std::optional<std::vector<int64_t>> strides = walked_strides(desc, out);
    if (!is_readable(desc.dtype) || !strides) return {};
    tape.operands_.back() = {.input = input, .strides = std::move(*strides), .dtype = desc.dtype};
  }
  for (const Chain::Step& step : chain.steps) {
    const bool is_coarse = !layer.is_strict && step.dtype == tensor::DType::bfloat16 && has_coarse_loop(step.op);
    tape.steps_.push_back({step, is_coarse});
  }
  tape.join_dims();
  return tape;
}

std::optional<Tape> Tape::make(const Layer& layer, size_t first, ir::ValueId given) {
  const std::optional<Chain> chain = find_chain(layer, first, given);
  return chain ? make(layer, *chain) : std::nullopt;
}

// Neighbours that every operand runs through alike become one.
void Tape::join_dims() {
  std::vector<std::vector<int64_t>*> strides;
  for (Operand& operand : operands_) {
    if (operand.input >= 0) strides.push_back(&operand.strides);
  }
  join_walked(extents_, strides);
}

}  // namespace assay::engine::cpu
