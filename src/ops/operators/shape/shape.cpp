#include <algorithm>

#include "ops/operator.h"

namespace assay::ops {
namespace {

// From version 15 on `start` and `end` cut the list of dims, out of range being clamped.
std::pair<size_t, size_t> dim_range(const Node& node, int64_t rank) {
  const auto place = [&](int64_t axis) { return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank); };
  const int64_t start = place(node.integer("start", 0));
  const int64_t end = std::max(start, place(node.integer("end", rank)));
  return {static_cast<size_t>(start), static_cast<size_t>(end)};
}

void infer_shape(Infer& node) {
  node.set_dtype(0, DType::int64);
  if (!node.is_ranked(0)) return node.set_dims(0, {Dim()});
  const auto [start, end] = dim_range(node, node.rank(0));
  const auto first = node.dims(0).begin();
  Elements elements{{static_cast<int64_t>(end - start)},
                    Dims(first + static_cast<ptrdiff_t>(start), first + static_cast<ptrdiff_t>(end))};
  node.set_dims(0, {static_cast<int64_t>(end - start)});
  node.set_elements(0, std::move(elements));
}

void eval_shape(Eval& node) {
  const auto [start, end] = dim_range(node, node.rank(0));
  const auto first = node.shape(0).begin();
  node.store(0, std::vector<int64_t>(first + static_cast<ptrdiff_t>(start), first + static_cast<ptrdiff_t>(end)));
}

void infer_size(Infer& node) {
  node.set_dtype(0, DType::int64);
  node.set_dims(0, {});
  if (node.is_ranked(0)) node.set_elements(0, {{}, {product(node.dims(0))}});
}

void eval_size(Eval& node) { node.store(0, std::vector<int64_t>{static_cast<int64_t>(node.count(0))}); }

}  // namespace

OperatorRows operator_shape_shape() {
  static constexpr Operator kRows[] = {
      {.name = "Shape", .traits = {Nature::generator, {.shapes = {0}}}, .infer = infer_shape, .eval = eval_shape},
      {.name = "Size", .traits = {Nature::generator, {.shapes = {0}}}, .infer = infer_size, .eval = eval_size},
  };
  return kRows;
}

}  // namespace assay::ops
