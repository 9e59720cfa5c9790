#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

struct SequenceAxes {
  size_t batch;
  size_t time;
};

SequenceAxes axes_of(const Node& node) {
  const int64_t batch = node.integer("batch_axis");
  const int64_t time = node.integer("time_axis");
  const bool is_pair = (batch == 0 && time == 1) || (batch == 1 && time == 0);
  if (!is_pair) fail(ErrorCode::shape, "`batch_axis` and `time_axis` must be 0 and 1, seen {} and {}", batch, time);
  return {static_cast<size_t>(batch), static_cast<size_t>(time)};
}

void infer_reverse_sequence(Infer& node) {
  const SequenceAxes axes = axes_of(node);
  node.require_rank(1, 1);
  infer_same_as_first(node);
  if (!node.is_ranked(0)) return;
  if (node.rank(0) < 2)
    fail(ErrorCode::shape, "the input must have a rank of 2 or more, its shape is {}", text(node.dims(0)));
  if (node.is_ranked(1)) unify(node.dims(0)[axes.batch], node.dims(1)[0], "batch sizes of input and sequence lengths");
}

// The input seen as [first axis, second axis, rest].
void eval_reverse_sequence(Eval& node) {
  const SequenceAxes axes = axes_of(node);
  const Shape& shape = node.shape(0);
  const auto times = static_cast<uint64_t>(shape[axes.time]);
  const uint64_t run = view_axis(shape, 1).inner;
  const uint64_t batch_stride = axes.batch == 0 ? times * run : run;
  const uint64_t time_stride = axes.time == 0 ? static_cast<uint64_t>(shape[axes.batch]) * run : run;
  const std::vector<int64_t> lengths = node.integers_in(1);
  const MoveFrom source(node.tensor_in(0));
  MoveTo result(node.tensor_in(0));
  for (uint64_t b = 0; b < lengths.size(); ++b) {
    if (lengths[b] < 0 || lengths[b] > shape[axes.time]) {
      fail(ErrorCode::shape, "sequence length {} is out of range, it must be from 0 to {}", lengths[b],
           shape[axes.time]);
    }
    const auto length = static_cast<uint64_t>(lengths[b]);
    for (uint64_t t = 0; t < length && run != 0; ++t) {
      result.copy(source, b * batch_stride + (length - 1 - t) * time_stride, b * batch_stride + t * time_stride, run);
    }
  }
  node.set_tensor(0, result.finish());
}

}  // namespace

OperatorRows operator_movement_reverse_sequence() {
  static constexpr Operator kRows[] = {
      {.name = "ReverseSequence",
       .since = 10,
       .traits = {Nature::movement, {.moves = Moves::each_once}},
       .infer = infer_reverse_sequence,
       .eval = eval_reverse_sequence},
  };
  return kRows;
}

}  // namespace assay::ops
