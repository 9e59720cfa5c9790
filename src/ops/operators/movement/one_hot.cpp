#include <cmath>

#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

Dim depth_of(const Infer& node) {
  const std::optional<double> number = node.number_of(1);
  if (!number) {
    const std::optional<Elements> elements = node.elements(1);
    return elements && elements->items.size() == 1 ? elements->items.front() : Dim();
  }
  if (!(*number > -1 && *number < 0x1p62)) fail(ErrorCode::shape, "the depth is {}, it must not be negative", *number);
  return static_cast<int64_t>(*number);
}

void infer_one_hot(Infer& node) {
  const Dim depth = depth_of(node);
  if (node.is_ranked(1) && product(node.dims(1)).is_number() && !product(node.dims(1)).is(1)) {
    fail(ErrorCode::shape, "the depth must be one element, its shape is {}", text(node.dims(1)));
  }
  node.require_rank(2, 1);
  if (node.is_ranked(2)) unify(node.dims(2)[0], 2, "the number of values (off and on) and 2");
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  const int64_t axis = normalize_axis(node.integer("axis"), node.rank(0) + 1);
  dims.insert(dims.begin() + axis, depth);
  node.set_dims(0, std::move(dims));
}

// Indices as integers; what no integer can hold is out of every range.
std::vector<int64_t> indices_of(const Eval& node) {
  if (!tensor::is_floating(node.dtype(0))) return node.integers_in(0);
  std::vector<int64_t> indices;
  for (const double value : node.load<double>(0)) {
    indices.push_back(std::abs(value) < 0x1p62 ? static_cast<int64_t>(value) : INT64_MIN);
  }
  return indices;
}

void eval_one_hot(Eval& node) {
  const Shape shape = node.out_shape(0);
  const int64_t axis = normalize_axis(node.integer("axis"), static_cast<int64_t>(shape.size()));
  const AxisView view = view_axis(shape, axis);
  const auto depth = static_cast<int64_t>(view.length);
  const std::vector<int64_t> indices = indices_of(node);
  const MoveFrom values(node.tensor_in(2));
  MoveTo result(node.tensor_in(2).dtype(), shape);
  result.fill(values, 0, 0, node.out_count(0));
  for (uint64_t i = 0; i < indices.size(); ++i) {
    // From version 11 on negative indices count from the end; before, they are out of range.
    const bool counts_back = indices[i] < 0 && node.version() >= 11;
    const int64_t index = counts_back ? indices[i] + depth : indices[i];
    if (index < 0 || index >= depth) continue;
    result.copy(values, 1, view.place(i / view.inner, static_cast<uint64_t>(index), i % view.inner));
  }
  node.set_tensor(0, result.finish());
}

}  // namespace

OperatorRows operator_movement_one_hot() {
  static constexpr Operator kRows[] = {
      {.name = "OneHot",
       .since = 9,
       .traits = {Nature::generator, {.indices = {0}, .sizes = {1}}},
       .infer = infer_one_hot,
       .eval = eval_one_hot},
  };
  return kRows;
}

}  // namespace assay::ops
