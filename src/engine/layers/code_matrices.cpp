#include "engine/layers/code_matrices.h"

#include <utility>

namespace assay::engine {

CodeMatrices code_matrices(const Layer& layer, const QuantizedAttention& attention) {
  const auto input = [&](ir::ValueId value) -> const TensorDesc& {
    return layer.inputs[static_cast<size_t>(layer.input_of(value))];
  };
  const TensorDesc out = turned_back(layer.outputs[0], attention.order);
  CodeMatrices made;
  made.items.assign(out.dims.begin(), out.dims.end() - 2);
  const auto operand = [&](ir::ValueId value) { return matrices_of(layer.input_of(value), input(value), made.items); };
  made.rows = out.dims[out.dims.size() - 2];
  made.width = out.dims.back();
  made.depth = input(attention.q).dims.back();
  made.keys = input(attention.k).dims.back();
  made.q = operand(attention.q);
  made.k = operand(attention.k);
  std::swap(made.k.row, made.k.column);
  made.v = operand(attention.v);
  made.out = matrices_of(0, out, made.items);
  for (const ScoreChange& change : attention.changes) {
    made.others.push_back(change.other.valid() ? operand(change.other) : Matrices());
  }
  return made;
}

float least_of(const Quantizer& quantizer) {
  return static_cast<float>((quantizer.codes == tensor::DType::int8 ? -128 : 0) - quantizer.zero);
}

}  // namespace assay::engine
