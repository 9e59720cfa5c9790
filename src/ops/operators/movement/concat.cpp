#include <algorithm>

#include "base/check.h"
#include "ops/kernels/elements/known_elements.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// Along the first axis the elements of small integer inputs follow each other.
void infer_joined_elements(Infer& node) {
  Elements joined{{0}, {}};
  for (uint32_t i = 0; i < node.input_count(); ++i) {
    const std::optional<Elements> part = node.elements(i);
    if (!part || part->shape.size() != 1) return;
    joined.items.insert(joined.items.end(), part->items.begin(), part->items.end());
    if (joined.items.size() > kMaxKnownElements) return;
  }
  joined.shape[0] = static_cast<int64_t>(joined.items.size());
  node.set_elements(0, std::move(joined));
}

void infer_concat(Infer& node) {
  infer_joined_elements(node);
  if (!node.all_ranked()) return;
  const int64_t rank = node.rank(0);
  const auto axis = static_cast<size_t>(normalize_axis(node.integer("axis", 1), rank));
  Dims result = node.dims(0);
  for (uint32_t i = 1; i < node.input_count(); ++i) {
    const Dims& dims = node.dims(i);
    if (node.rank(i) != rank) {
      fail(ErrorCode::shape, "inputs must have one rank, seen shapes {} and {}", text(node.dims(0)), text(dims));
    }
    for (size_t a = 0; a < dims.size(); ++a) {
      result[a] = a == axis ? result[a] + dims[a] : unify(result[a], dims[a], "dims besides the concatenated axis");
    }
  }
  node.set_dims(0, std::move(result));
}

void eval_concat(Eval& node) {
  const Shape shape = node.out_shape(0);
  const int64_t axis = normalize_axis(node.integer("axis", 1), static_cast<int64_t>(shape.size()));
  const AxisView whole = view_axis(shape, axis);
  MoveTo result(node.tensor_in(0).dtype(), shape);
  uint64_t at = 0;
  for (uint32_t i = 0; i < node.input_count(); ++i) {
    const MoveFrom part(node.tensor_in(i));
    const AxisView view = view_axis(node.shape(i), axis);
    const uint64_t run = view.length * view.inner;
    for (uint64_t o = 0; o < view.outer && run != 0; ++o) {
      result.copy(part, o * run, (o * whole.length + at) * whole.inner, run);
    }
    at += view.length;
  }
  node.set_tensor(0, result.finish());
}

}  // namespace

OperatorRows operator_movement_concat() {
  static constexpr Operator kRows[] = {
      {.name = "Concat",
       .traits = {Nature::movement, {.range = ValueRange::all}},
       .infer = infer_concat,
       .eval = eval_concat},
  };
  return kRows;
}

}  // namespace assay::ops
