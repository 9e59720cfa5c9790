#include "base/parallel.h"
#include "ops/kernels/elements/element_inference.h"
#include "ops/kernels/movement/movement.h"
#include "ops/kernels/movement/places.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

size_t axis_of(const Node& node, int64_t rank) {
  return static_cast<size_t>(normalize_axis(node.integer("axis", 0), rank));
}

void infer_gathered_elements(Infer& node) {
  const std::optional<Elements> elements = node.elements(0);
  const std::optional<std::vector<int64_t>> indices = node.integers_of(1);
  if (!elements || elements->shape.size() != 1 || !indices) return;
  Elements result{node.elements(1)->shape, {}};
  for (const int64_t index : *indices)
    result.items.push_back(elements->items[checked_index(index, elements->items.size())]);
  node.set_elements(0, std::move(result));
}

void infer_gather(Infer& node) {
  if (node.is_ranked(0)) axis_of(node, node.rank(0));
  if (!node.all_ranked()) return;
  const size_t axis = axis_of(node, node.rank(0));
  Dims dims = node.dims(0);
  const std::optional<std::vector<int64_t>> indices = node.integers_of(1);
  if (indices && dims[axis].is_number()) {
    for (const int64_t index : *indices) checked_index(index, static_cast<uint64_t>(*dims[axis].number()));
  }
  const auto place = dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
  dims.insert(place, node.dims(1).begin(), node.dims(1).end());
  infer_gathered_elements(node);
  node.set_dims(0, std::move(dims));
}

void eval_gather(Eval& node) {
  const AxisView view = view_axis(node.shape(0), static_cast<int64_t>(axis_of(node, node.rank(0))));
  const std::vector<int64_t> indices = node.integers_in(1);
  std::vector<uint64_t> places;
  for (const int64_t index : indices) places.push_back(checked_index(index, view.length));
  const MoveFrom source(node.tensor_in(0));
  MoveTo target(node.tensor_in(0).dtype(), node.out_shape(0));
  const uint64_t runs = view.inner == 0 ? 0 : view.outer * places.size();
  parallel_for(runs, 16384 / (view.inner + 1) + 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; ++at) {
      target.copy(source, view.place(at / places.size(), places[at % places.size()], 0), at * view.inner, view.inner);
    }
  });
  node.set_tensor(0, target.finish());
}

void infer_gather_elements(Infer& node) {
  if (node.is_ranked(0)) axis_of(node, node.rank(0));
  if (node.is_ranked(1)) node.set_dims(0, node.dims(1));
  if (!node.all_ranked()) return;
  node.require_rank(1, node.rank(0));
  const size_t axis = axis_of(node, node.rank(0));
  require_indices_within(node, axis);
}

void eval_gather_elements(Eval& node) {
  const size_t axis = axis_of(node, node.rank(0));
  const Shape shape = node.out_shape(0);
  const std::vector<int64_t> indices = node.integers_in(1);
  const IndexedPlaces indexed(node.shape(0), shape, axis);
  const MoveFrom source(node.tensor_in(0));
  MoveTo target(node.tensor_in(0).dtype(), shape);
  parallel_for(indices.size(), 4096, [&](uint64_t begin, uint64_t end) {
    std::vector<uint64_t> places(end - begin);
    indexed.find(std::span(indices).subspan(begin, end - begin), begin, places);
    target.gather(source, 0, places, begin);
  });
  node.set_tensor(0, target.finish());
}

}  // namespace

OperatorRows operator_movement_gather() {
  static constexpr Traits kMovement = {Nature::movement, {.indices = {1}}};
  static constexpr Operator kRows[] = {
      {.name = "Gather", .traits = kMovement, .infer = infer_gather, .eval = eval_gather},
      {.name = "GatherElements",
       .since = 11,
       .traits = kMovement,
       .infer = infer_gather_elements,
       .eval = eval_gather_elements},
  };
  return kRows;
}

}  // namespace assay::ops
