#include "ops/kernels/movement/scatter.h"

#include "base/parallel.h"
#include "ops/kernels/movement/places.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_scatter(Infer& node) {
  reduction_of(node);
  infer_same_as_first(node);
  if (node.is_ranked(0)) normalize_axis(node.integer("axis", 0), node.rank(0));
  if (node.is_ranked(1) && node.is_ranked(2)) {
    node.require_rank(2, node.rank(1));
    for (size_t a = 0; a < node.dims(1).size(); ++a) {
      unify(node.dims(1)[a], node.dims(2)[a], "dims of indices and updates");
    }
  }
  if (!node.is_ranked(0) || !node.is_ranked(1)) return;
  node.require_rank(1, node.rank(0));
  const auto axis = static_cast<size_t>(normalize_axis(node.integer("axis", 0), node.rank(0)));
  require_indices_within(node, axis);
}

void eval_scatter(Eval& node) {
  const auto axis = static_cast<size_t>(normalize_axis(node.integer("axis", 0), node.rank(0)));
  const IndexedPlaces indexed(node.shape(0), node.shape(1), axis);
  const std::vector<int64_t> indices = node.integers_in(1);
  std::vector<uint64_t> targets(indices.size());
  parallel_for(targets.size(), 4096, [&](uint64_t begin, uint64_t end) {
    indexed.find(std::span(indices).subspan(begin, end - begin), begin, std::span(targets).subspan(begin, end - begin));
  });
  scatter(node, targets, 1, reduction_of(node));
}

}  // namespace

OperatorRows operator_movement_scatter() {
  static constexpr Traits kUnknown = {Nature::movement, {.range = ValueRange::unknown, .indices = {1}}};
  static constexpr Operator kRows[] = {
      {.name = "Scatter", .since = 9, .traits = kUnknown, .infer = infer_scatter, .eval = eval_scatter},
      {.name = "ScatterElements", .since = 11, .traits = kUnknown, .infer = infer_scatter, .eval = eval_scatter},
  };
  return kRows;
}

}  // namespace assay::ops
