#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

int64_t axis_of(const Node& node, int64_t rank) {
  const int64_t axis = normalize_axis(node.integer("axis"), rank);
  if (axis == 0) fail(ErrorCode::shape, "the axis must not be that of the batch");
  return axis;
}

bool is_circular(const Node& node) {
  const std::string_view mode = node.string("mode");
  if (mode == "linear" || mode == "circular") return mode == "circular";
  fail(ErrorCode::shape, "there is no mode `{}`", mode);
}

void infer_tensor_scatter(Infer& node) {
  is_circular(node);
  infer_same_as_first(node);
  node.require_rank(2, 1);
  if (!node.is_ranked(0) || !node.is_ranked(1)) return;
  const Dims& cache = node.dims(0);
  const Dims& update = node.dims(1);
  node.require_rank(1, node.rank(0));
  const auto axis = static_cast<size_t>(axis_of(node, node.rank(0)));
  for (size_t a = 0; a < cache.size(); ++a) {
    if (a != axis) unify(cache[a], update[a], "dims besides the sequence");
  }
  const std::optional<int64_t> room = cache[axis].number();
  const std::optional<int64_t> length = update[axis].number();
  if (room && length && *length > *room) {
    fail(ErrorCode::shape, "a sequence of {} does not fit into a cache of {}", *length, *room);
  }
  if (node.is_ranked(2)) unify(cache[0], node.dims(2)[0], "batch sizes of cache and write indices");
}

// The place in the cache of element number `step` of a sequence that is written from `start` on.
uint64_t place_of(int64_t start, uint64_t step, uint64_t room, bool is_circular) {
  if (start < 0) fail(ErrorCode::shape, "write index {} is negative", start);
  const uint64_t place = static_cast<uint64_t>(start) + step;
  if (is_circular) return place % room;
  if (place >= room) fail(ErrorCode::shape, "write index {} is out of range, the cache has {}", place, room);
  return place;
}

void eval_tensor_scatter(Eval& node) {
  const int64_t axis = axis_of(node, node.rank(0));
  const AxisView cache = view_axis(node.shape(0), axis);
  const AxisView update = view_axis(node.shape(1), axis);
  const auto batches = static_cast<uint64_t>(node.shape(0)[0]);
  std::vector<int64_t> starts(batches, 0);
  if (node.has(2)) starts = node.integers_in(2);
  const bool wraps = is_circular(node);
  const MoveFrom source(node.tensor_in(1));
  MoveTo result(node.tensor_in(0));
  for (uint64_t o = 0; o < update.outer && update.inner != 0; ++o) {
    const int64_t start = starts[o / (update.outer / batches)];
    for (uint64_t k = 0; k < update.length; ++k) {
      const uint64_t place = place_of(start, k, cache.length, wraps);
      result.copy(source, update.place(o, k, 0), cache.place(o, place, 0), cache.inner);
    }
  }
  node.set_tensor(0, result.finish());
}

}  // namespace

OperatorRows operator_movement_tensor_scatter() {
  static constexpr Operator kRows[] = {
      {.name = "TensorScatter",
       .since = 24,
       .traits = {Nature::movement, {.range = ValueRange::unknown, .indices = {2}}},
       .infer = infer_tensor_scatter,
       .eval = eval_tensor_scatter},
  };
  return kRows;
}

}  // namespace assay::ops
