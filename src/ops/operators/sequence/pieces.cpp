#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/movement/movement.h"
#include "ops/kernels/movement/stack.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_join(Infer& node) {
  if (!node.type(0).is_sequence() || !node.type(0).element) return;
  const Type& element = *node.type(0).element;
  if (element.is_tensor()) node.set_dtype(0, element.dtype);
  if (!element.dims) return;
  const bool is_new = node.flag("new_axis");
  const auto rank = static_cast<int64_t>(element.dims->size());
  const int64_t axis = normalize_axis(node.integer("axis"), rank + (is_new ? 1 : 0));
  Dims dims = *element.dims;
  if (is_new) {
    dims.insert(dims.begin() + axis, Dim());
  } else {
    dims[static_cast<size_t>(axis)] = Dim();
  }
  node.set_dims(0, std::move(dims));
}

// Parts that differ only along the axis, one after the other.
Tensor join(std::span<const Datum> parts, int64_t axis) {
  Shape shape = parts.front().tensor().shape();
  const auto place = static_cast<size_t>(axis);
  for (const Datum& part : parts.subspan(1)) {
    Shape other = part.tensor().shape();
    if (other.size() == shape.size()) {
      const int64_t length = std::exchange(other[place], shape[place]);
      if (other == shape) {
        shape[place] += length;
        continue;
      }
    }
    fail(ErrorCode::shape, "items of shapes {} and {} cannot be joined along axis {}",
         text(dims_of(parts.front().tensor().shape())), text(dims_of(part.tensor().shape())), axis);
  }
  MoveTo result(parts.front().tensor().dtype(), shape);
  const AxisView whole = view_axis(shape, axis);
  uint64_t at = 0;
  for (const Datum& part : parts) {
    const MoveFrom from(part.tensor());
    const AxisView view = view_axis(part.tensor().shape(), axis);
    const uint64_t run = view.length * view.inner;
    for (uint64_t o = 0; o < view.outer; ++o) result.copy(from, o * run, (o * whole.length + at) * whole.inner, run);
    at += view.length;
  }
  return result.finish();
}

void eval_join(Eval& node) {
  if (!node.has(0) || !node.datum(0).is_sequence()) fail(ErrorCode::shape, "input 0 is not a sequence");
  const std::vector<Datum>& parts = node.datum(0).items();
  if (parts.empty()) fail(ErrorCode::shape, "an empty sequence cannot be joined");
  const bool is_new = node.flag("new_axis");
  const auto rank = static_cast<int64_t>(parts.front().tensor().shape().size());
  const int64_t axis = normalize_axis(node.integer("axis"), rank + (is_new ? 1 : 0));
  Tensor result = is_new ? stack(parts, axis, parts.front().tensor().dtype(), {}) : join(parts, axis);
  node.set(0, Datum(std::move(result), parts.front().declared()));
}

// Lengths of the parts along the axis; with no split given every slice is a part, and without keepdims it loses the
// axis.
std::vector<int64_t> part_lengths(const Eval& node, int64_t dim) {
  if (!node.has(1)) return std::vector<int64_t>(static_cast<size_t>(dim), 1);
  const std::vector<int64_t> split = node.integers_in(1);
  if (node.rank(1) != 0) {
    int64_t total = 0;
    for (const int64_t length : split) {
      if (length < 0 || __builtin_add_overflow(total, length, &total)) {
        fail(ErrorCode::shape, "a part of length {} cannot be", length);
      }
    }
    if (total != dim) fail(ErrorCode::shape, "the parts have {} elements, the axis has {}", total, dim);
    return split;
  }
  const int64_t length = split.front();
  if (length <= 0) fail(ErrorCode::shape, "parts of length {} cannot be", length);
  std::vector<int64_t> lengths(static_cast<size_t>(dim / length), length);
  if (dim % length != 0) lengths.push_back(dim % length);
  return lengths;
}

void infer_split(Infer& node) {
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  const auto axis = static_cast<size_t>(normalize_axis(node.integer("axis"), node.rank(0)));
  dims[axis] = Dim();
  if (!node.has(1)) {
    if (node.flag("keepdims")) {
      dims[axis] = 1;
    } else {
      dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
    }
  }
  node.set_type(0, Type::sequence(Type::tensor(node.dtype(0), std::move(dims))));
}

void eval_split(Eval& node) {
  const Tensor& input = node.tensor_in(0);
  const int64_t axis = normalize_axis(node.integer("axis"), node.rank(0));
  const auto place = static_cast<size_t>(axis);
  const std::vector<int64_t> strides = row_major_strides(input.shape());
  const bool drops_axis = !node.has(1) && !node.flag("keepdims");
  std::vector<Datum> parts;
  int64_t at = 0;
  for (const int64_t length : part_lengths(node, input.shape()[place])) {
    Shape shape = input.shape();
    shape[place] = length;
    Tensor part = drops_axis ? slice_off(input, axis, at) : copy_strided(input, shape, at * strides[place], strides);
    parts.emplace_back(std::move(part), node.dtype(0));
    at += length;
  }
  node.set(0, Datum::sequence(std::move(parts)));
}

}  // namespace

OperatorRows operator_sequence_pieces() {
  static constexpr Operator kRows[] = {
      {.name = "ConcatFromSequence",
       .since = 11,
       .traits = {Nature::container},
       .infer = infer_join,
       .eval = eval_join},
      {.name = "SplitToSequence",
       .since = 11,
       .traits = {Nature::container, {.sizes = {1}}},
       .infer = infer_split,
       .eval = eval_split},
  };
  return kRows;
}

}  // namespace assay::ops
