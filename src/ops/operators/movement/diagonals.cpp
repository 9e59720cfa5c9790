#include <algorithm>

#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The column where diagonal k crosses a row, kept within [0, columns].
uint64_t crossing(uint64_t row, int64_t k, uint64_t columns) {
  const auto most = static_cast<int64_t>(columns);
  const auto at = static_cast<int64_t>(row);
  if (k > most) return columns;
  return k < -at ? 0 : static_cast<uint64_t>(std::min(at + k, most));
}

void infer_eye_like(Infer& node) {
  node.require_rank(0, 2);
  const int64_t dtype = node.integer("dtype", static_cast<int64_t>(node.dtype(0)));
  if (dtype < 0 || dtype > 28) fail(ErrorCode::shape, "`dtype` {} is no element type", dtype);
  node.set_dtype(0, static_cast<DType>(dtype));
  node.set_dims(0, node.is_ranked(0) ? node.dims(0) : Dims(2));
}

void eval_eye_like(Eval& node) {
  const int64_t k = node.integer("k");
  const auto rows = static_cast<uint64_t>(node.shape(0)[0]);
  const auto columns = static_cast<uint64_t>(node.shape(0)[1]);
  std::vector<double> eye(rows * columns);
  for (uint64_t row = 0; row < rows; ++row) {
    const uint64_t column = crossing(row, k, columns);
    const bool is_crossed = column < columns && (column != 0 || k == -static_cast<int64_t>(row));
    if (is_crossed) eye[row * columns + column] = 1;
  }
  node.store(0, std::move(eye));
}

void infer_trilu(Infer& node) {
  if (node.is_ranked(0) && node.rank(0) < 2) {
    fail(ErrorCode::shape, "the input must have a rank of 2 or more, its shape is {}", text(node.dims(0)));
  }
  if (node.has(1) && node.is_ranked(1) && product(node.dims(1)).is_number() && !product(node.dims(1)).is(1)) {
    fail(ErrorCode::shape, "`k` must be one element, its shape is {}", text(node.dims(1)));
  }
  infer_same_as_first(node);
}

void eval_trilu(Eval& node) {
  const int64_t k = node.scalar<int64_t>(1, 0);
  const bool is_upper = node.integer("upper") != 0;
  const Shape& shape = node.shape(0);
  const auto rows = static_cast<uint64_t>(shape[shape.size() - 2]);
  const auto columns = static_cast<uint64_t>(shape.back());
  const MoveFrom source(node.tensor_in(0));
  MoveTo result(node.tensor_in(0).dtype(), shape);
  const uint64_t lines = columns == 0 ? 0 : node.count(0) / columns;
  for (uint64_t line = 0; line < lines; ++line) {
    const uint64_t split = is_upper         ? crossing(line % rows, k, columns)
                           : k == INT64_MAX ? columns
                                            : crossing(line % rows, k + 1, columns);
    const uint64_t begin = line * columns + (is_upper ? split : 0);
    const uint64_t end = line * columns + (is_upper ? columns : split);
    if (begin < end) result.copy(source, begin, begin, end - begin);
  }
  node.set_tensor(0, result.finish());
}

}  // namespace

OperatorRows operator_movement_diagonals() {
  static constexpr Traits kFirstOrZero = {Nature::movement, {.range = ValueRange::first_or_zero}};
  static constexpr Operator kRows[] = {
      {.name = "EyeLike",
       .since = 9,
       .traits = {Nature::generator, {.shapes = {0}, .typed_by = "dtype"}},
       .infer = infer_eye_like,
       .eval = eval_eye_like},
      {.name = "Trilu", .since = 14, .traits = kFirstOrZero, .infer = infer_trilu, .eval = eval_trilu},
      {.domain = kMicrosoft, .name = "Trilu", .traits = kFirstOrZero, .infer = infer_trilu, .eval = eval_trilu},
  };
  return kRows;
}

}  // namespace assay::ops
