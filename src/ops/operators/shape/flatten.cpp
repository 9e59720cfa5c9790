#include "ops/kernels/elements/element_inference.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The axis may also stand behind the last one.
size_t first_inner_axis(const Node& node, int64_t rank) {
  const int64_t axis = node.integer("axis");
  const int64_t least = node.version() < 11 ? 0 : -rank;
  if (axis < least || axis > rank) {
    fail(ErrorCode::shape, "axis {} is out of range, it must be from {} to {}", axis, least, rank);
  }
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

void infer_flatten(Infer& node) {
  if (!node.is_ranked(0)) return node.set_dims(0, {Dim(), Dim()});
  const size_t axis = first_inner_axis(node, node.rank(0));
  const std::span<const Dim> dims = node.dims(0);
  Dims result = {product(dims.first(axis)), product(dims.subspan(axis))};
  if (const std::optional<std::vector<int64_t>> shape = numbers(result)) {
    infer_moved_elements(node, *shape, [](uint64_t place) { return place; });
  }
  node.set_dims(0, std::move(result));
}

void eval_flatten(Eval& node) { node.set_tensor(0, reshaped(node.tensor_in(0), node.out_shape(0))); }

}  // namespace

OperatorRows operator_shape_flatten() {
  static constexpr Operator kRows[] = {
      {.name = "Flatten",
       .traits = {Nature::movement, {.moves = Moves::in_order}},
       .infer = infer_flatten,
       .eval = eval_flatten},
  };
  return kRows;
}

}  // namespace assay::ops
