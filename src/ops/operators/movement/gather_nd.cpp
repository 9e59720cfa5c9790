#include "base/parallel.h"
#include "ops/kernels/movement/movement.h"
#include "ops/kernels/movement/places.h"
#include "ops/kernels/movement/scatter.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The last axis of the indices holds tuples; each is a place along the first axes of the data behind the batch axes.
struct Tuples {
  size_t batch_axes = 0;
  size_t length = 0;
};

// Empty where the length of a tuple is not known.
std::optional<Tuples> known_tuples(const Infer& node) {
  const int64_t batch_axes = node.integer("batch_dims", 0);
  if (!node.is_ranked(0) || !node.is_ranked(1)) return std::nullopt;
  if (node.rank(0) < 1 || node.rank(1) < 1) {
    fail(ErrorCode::shape, "data and indices must have a rank of 1 or more, seen shapes {} and {}", text(node.dims(0)),
         text(node.dims(1)));
  }
  if (batch_axes < 0 || batch_axes >= std::min(node.rank(0), node.rank(1))) {
    fail(ErrorCode::shape, "`batch_dims` is {}, the ranks are {} and {}", batch_axes, node.rank(0), node.rank(1));
  }
  const std::optional<int64_t> length = node.dims(1).back().number();
  if (!length) return std::nullopt;
  if (*length > node.rank(0) - batch_axes) {
    fail(ErrorCode::shape, "indices of {} numbers do not fit data of shape {} after {} batch axes", *length,
         text(node.dims(0)), batch_axes);
  }
  return Tuples{static_cast<size_t>(batch_axes), static_cast<size_t>(*length)};
}

Tuples tuples_of(const Eval& node) {
  return {static_cast<size_t>(node.integer("batch_dims", 0)), static_cast<size_t>(node.shape(1).back())};
}

// The begins in the data of the elements, or runs of elements, of all tuples.
struct Places {
  std::vector<uint64_t> starts;
  uint64_t run = 1;
};

uint64_t product_of(std::span<const int64_t> dims) {
  uint64_t result = 1;
  for (const int64_t dim : dims) result *= static_cast<uint64_t>(dim);
  return result;
}

Places places_of(const Eval& node, const Tuples& tuples) {
  const std::span<const int64_t> data = node.shape(0);
  const std::span<const int64_t> indices = node.shape(1);
  const std::vector<int64_t> numbers = node.integers_in(1);
  const uint64_t count = product_of(indices.first(indices.size() - 1));
  const uint64_t batches = product_of(data.first(tuples.batch_axes));
  const uint64_t per_batch = batches == 0 ? 0 : count / batches;
  Places places;
  places.run = product_of(data.subspan(tuples.batch_axes + tuples.length));
  places.starts.resize(count);
  for (uint64_t i = 0; i < count && per_batch != 0; ++i) {
    uint64_t place = i / per_batch;
    for (size_t k = 0; k < tuples.length; ++k) {
      const auto dim = static_cast<uint64_t>(data[tuples.batch_axes + k]);
      place = place * dim + checked_index(numbers[i * tuples.length + k], dim);
    }
    places.starts[i] = place * places.run;
  }
  return places;
}

void infer_gather_nd(Infer& node) {
  const std::optional<Tuples> tuples = known_tuples(node);
  if (!tuples) return;
  const Dims& data = node.dims(0);
  const Dims& indices = node.dims(1);
  Dims dims(indices.begin(), indices.end() - 1);
  for (size_t a = 0; a < tuples->batch_axes; ++a) dims[a] = unify(data[a], indices[a], "batch dims");
  dims.insert(dims.end(), data.begin() + static_cast<ptrdiff_t>(tuples->batch_axes + tuples->length), data.end());
  node.set_dims(0, std::move(dims));
}

void eval_gather_nd(Eval& node) {
  const Places places = places_of(node, tuples_of(node));
  const MoveFrom source(node.tensor_in(0));
  MoveTo target(node.tensor_in(0).dtype(), node.out_shape(0));
  const uint64_t runs = places.run == 0 ? 0 : places.starts.size();
  parallel_for(runs, 16384 / (places.run + 1) + 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) target.copy(source, places.starts[i], i * places.run, places.run);
  });
  node.set_tensor(0, target.finish());
}

void infer_scatter_nd(Infer& node) {
  reduction_of(node);
  infer_same_as_first(node);
  const std::optional<Tuples> tuples = known_tuples(node);
  if (!tuples || !node.is_ranked(2)) return;
  const Dims& data = node.dims(0);
  const Dims& indices = node.dims(1);
  Dims expected(indices.begin(), indices.end() - 1);
  expected.insert(expected.end(), data.begin() + static_cast<ptrdiff_t>(tuples->length), data.end());
  if (expected.size() != node.dims(2).size()) {
    fail(ErrorCode::shape, "updates must have shape {}, seen {}", text(expected), text(node.dims(2)));
  }
  for (size_t a = 0; a < expected.size(); ++a) unify(expected[a], node.dims(2)[a], "dims of the updates");
}

void eval_scatter_nd(Eval& node) {
  const Places places = places_of(node, tuples_of(node));
  scatter(node, places.starts, places.run, reduction_of(node));
}

}  // namespace

OperatorRows operator_movement_gather_nd() {
  static constexpr Traits kMovement = {Nature::movement, {.indices = {1}}};
  static constexpr Operator kRows[] = {
      {.name = "GatherND", .since = 11, .traits = kMovement, .infer = infer_gather_nd, .eval = eval_gather_nd},
      {.domain = kMicrosoft, .name = "GatherND", .traits = kMovement, .infer = infer_gather_nd, .eval = eval_gather_nd},
      {.name = "ScatterND",
       .since = 11,
       .traits = {Nature::movement, {.range = ValueRange::unknown, .indices = {1}}},
       .infer = infer_scatter_nd,
       .eval = eval_scatter_nd},
  };
  return kRows;
}

}  // namespace assay::ops
