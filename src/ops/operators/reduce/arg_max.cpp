#include "ops/kernels/elements/reduction.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_arg(Infer& node) {
  if (!node.is_ranked(0)) return;
  const int64_t axis = normalize_axis(node.integer("axis"), node.rank(0));
  Dims dims = without_axes(node.dims(0), std::span(&axis, 1), node.flag("keepdims"));
  const bool is_empty = node.dims(0)[static_cast<size_t>(axis)].is(0);
  if (is_empty && !product(dims).is(0)) fail(ErrorCode::shape, "axis {} has no elements to choose from", axis);
  node.set_dims(0, std::move(dims));
}

// The first, or last, place of the element that wins over all others; NaN wins over every number.
template <typename C, typename Wins>
int64_t place_of_best(std::span<const C> line, bool takes_last, Wins wins) {
  size_t best = 0;
  for (size_t i = 1; i < line.size(); ++i) {
    const bool is_nan = line[i] != line[i];
    const bool best_is_nan = line[best] != line[best];
    const bool is_better = is_nan ? !best_is_nan : !best_is_nan && wins(line[i], line[best]);
    const bool is_equal = (is_nan && best_is_nan) || line[i] == line[best];
    if (is_better || (takes_last && is_equal)) best = i;
  }
  return static_cast<int64_t>(best);
}

template <typename Wins>
void eval_arg(Eval& node, Wins wins) {
  const int64_t axis = normalize_axis(node.integer("axis"), node.rank(0));
  const Lines lines(node.shape(0), std::span(&axis, 1));
  const bool takes_last = node.flag("select_last_index");
  with_carrier(node.dtype(0), [&](auto zero) {
    using C = decltype(zero);
    node.store(0, reduce_lines<int64_t>(lines, node.load<C>(0), [&](std::span<const C> line) {
                 return place_of_best(line, takes_last, wins);
               }));
  });
}

}  // namespace

OperatorRows operator_reduce_arg_max() {
  static constexpr Operator kRows[] = {
      {.name = "ArgMax",
       .traits = {Nature::selection},
       .infer = infer_arg,
       .eval = [](Eval& node) { eval_arg(node, [](auto a, auto b) { return a > b; }); }},
      {.name = "ArgMin",
       .traits = {Nature::selection},
       .infer = infer_arg,
       .eval = [](Eval& node) { eval_arg(node, [](auto a, auto b) { return a < b; }); }},
  };
  return kRows;
}

}  // namespace assay::ops
