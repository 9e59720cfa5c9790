#include "ops/kernels/window/channels_last.h"

#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/movement/movement.h"

namespace assay::ops {
namespace {

Tensor with_channels_second(const Tensor& tensor) {
  return copy_strided(tensor, channels_second(tensor.shape()), 0, channels_second(row_major_strides(tensor.shape())));
}

Tensor with_channels_back(const Tensor& tensor) {
  return copy_strided(tensor, channels_back(tensor.shape()), 0, channels_back(row_major_strides(tensor.shape())));
}

}  // namespace

void infer_channels_last(Infer& node, std::span<const uint32_t> inputs, void (*infer)(Infer& node)) {
  std::vector<Knowledge> known;
  for (uint32_t i = 0; i < node.input_count(); ++i) known.push_back({node.type(i), node.constant(i), {}});
  for (const uint32_t input : inputs) {
    if (node.is_ranked(input)) known[input] = {Type::tensor(node.dtype(input), channels_second(node.dims(input)))};
  }
  Knowledge result = {node.output(0).type};
  Infer inner(node, node.space(), known, std::span(&result, 1), nullptr);
  infer(inner);
  if (result.type.dims) node.set_dims(0, channels_back(*result.type.dims));
}

void eval_channels_last(Eval& node, std::span<const uint32_t> inputs, void (*eval)(Eval& node)) {
  std::vector<Datum> data;
  for (uint32_t i = 0; i < node.input_count(); ++i) data.push_back(node.datum(i));
  for (const uint32_t input : inputs) {
    if (node.has(input)) data[input] = Datum(with_channels_second(node.tensor_in(input)), node.dtype(input));
  }
  const Type type = Type::tensor(node.out_dtype(0), channels_second(*node.out_type(0).dims));
  Datum result;
  Eval inner(node, data, std::span(&type, 1), std::span(&result, 1), node.runner(), node.is_wide());
  eval(inner);
  node.set_tensor(0, with_channels_back(result.tensor()));
}

}  // namespace assay::ops
