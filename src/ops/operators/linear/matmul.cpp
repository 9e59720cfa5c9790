#include "ops/kernels/batched_product.h"
#include "ops/kernels/broadcast.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_matmul(Infer& node) {
  if (node.all_ranked()) node.set_dims(0, matmul_dims(node.dims(0), node.dims(1)));
}

Dim macs_of_matmul(const Infer& node) {
  if (!node.all_ranked() || !node.output(0).type.dims) return {};
  return matmul_macs(node.dims(0), *node.output(0).type.dims);
}

void eval_matmul(Eval& node) { node.store(0, matmul(node.tensor_in(0), node.tensor_in(1), node.out_shape(0))); }

}  // namespace

OperatorRows operator_linear_matmul() {
  static constexpr Operator kRows[] = {
      {.name = "MatMul", .infer = infer_matmul, .eval = eval_matmul, .macs = macs_of_matmul},
  };
  return kRows;
}

}  // namespace assay::ops
