#include <algorithm>
#include <numeric>

#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

std::vector<int64_t> permutation(const Node& node, int64_t rank) {
  std::vector<int64_t> order = node.integers("perm");
  if (!node.has_attribute("perm")) {
    order.resize(static_cast<size_t>(rank));
    std::iota(order.rbegin(), order.rend(), 0);
  }
  if (static_cast<int64_t>(order.size()) != rank) {
    fail(ErrorCode::shape, "attribute `perm` has {} axes, the input has rank {}", order.size(), rank);
  }
  return normalize_axes(std::move(order), rank);
}

void infer_transpose(Infer& node) {
  if (!node.is_ranked(0)) return;
  Dims dims;
  for (const int64_t axis : permutation(node, node.rank(0))) dims.push_back(node.dims(0)[static_cast<size_t>(axis)]);
  node.set_dims(0, std::move(dims));
}

void eval_transpose(Eval& node) {
  const std::vector<int64_t> strides = row_major_strides(node.shape(0));
  std::vector<int64_t> moved;
  for (const int64_t axis : permutation(node, node.rank(0))) moved.push_back(strides[static_cast<size_t>(axis)]);
  node.set_tensor(0, copy_strided(node.tensor_in(0), node.out_shape(0), 0, moved));
}

}  // namespace

OperatorRows operator_movement_transpose() {
  static constexpr Operator kRows[] = {
      {.name = "Transpose",
       .traits = {Nature::movement, {.moves = Moves::by_dims}},
       .infer = infer_transpose,
       .eval = eval_transpose},
  };
  return kRows;
}

}  // namespace assay::ops
