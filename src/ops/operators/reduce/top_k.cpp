#include <algorithm>
#include <numeric>

#include "base/parallel.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// Before version 10 the attribute `k`.
Dim wanted_count(const Infer& node) {
  if (node.version() < 10) return node.integer("k");
  if (node.is_ranked(1) && (node.rank(1) != 1 || (node.dims(1)[0].is_number() && !node.dims(1)[0].is(1)))) {
    fail(ErrorCode::shape, "K must be a list of one number, its shape is {}", text(node.dims(1)));
  }
  const std::optional<Elements> elements = node.elements(1);
  return elements && elements->items.size() == 1 ? elements->items[0] : Dim();
}

void infer_top_k(Infer& node) {
  const Dim k = wanted_count(node);
  if (k.is_number() && *k.number() < 0) fail(ErrorCode::shape, "k must not be negative, it is {}", *k.number());
  if (!node.is_ranked(0)) return;
  const auto axis = static_cast<size_t>(normalize_axis(node.integer("axis"), node.rank(0)));
  Dims dims = node.dims(0);
  if (k.is_number() && dims[axis].is_number() && *k.number() > *dims[axis].number()) {
    fail(ErrorCode::shape, "k is {}, axis {} has only {} elements", *k.number(), axis, *dims[axis].number());
  }
  dims[axis] = k;
  node.set_dims(0, dims);
  node.set_dims(1, std::move(dims));
}

// NaN is larger than every number.
template <typename C>
bool is_less(C a, C b) {
  return a < b || (b != b && a == a);
}

// Places of a line's best elements, the best first; of equal ones the lower place first.
template <typename C>
void sort_places(std::span<const C> line, bool largest, size_t k, std::vector<size_t>& places) {
  std::iota(places.begin(), places.end(), size_t{0});
  const auto stands_before = [&](size_t a, size_t b) {
    const bool is_first = largest ? is_less(line[b], line[a]) : is_less(line[a], line[b]);
    const bool is_second = largest ? is_less(line[a], line[b]) : is_less(line[b], line[a]);
    return is_first || (!is_second && a < b);
  };
  std::partial_sort(places.begin(), places.begin() + static_cast<ptrdiff_t>(k), places.end(), stands_before);
}

// Where sorted=0 leaves the order open, it is the sorted one.
template <typename C>
void eval_lines(Eval& node) {
  const std::vector<C> data = node.load<C>(0);
  const int64_t axis = normalize_axis(node.integer("axis"), node.rank(0));
  const AxisView view = view_axis(node.shape(0), axis);
  const AxisView result = view_axis(node.out_shape(0), axis);
  const bool largest = node.integer("largest", 1) != 0;
  std::vector<C> values(node.out_count(0));
  std::vector<int64_t> indices(values.size());
  const uint64_t lines = values.empty() ? 0 : view.outer * view.inner;
  parallel_for(lines, 16, [&](uint64_t begin, uint64_t end) {
    std::vector<C> line(view.length);
    std::vector<size_t> places(view.length);
    for (uint64_t at = begin; at < end; ++at) {
      const uint64_t o = at / view.inner;
      const uint64_t i = at % view.inner;
      for (uint64_t k = 0; k < view.length; ++k) line[k] = data[view.place(o, k, i)];
      sort_places<C>(line, largest, result.length, places);
      for (uint64_t k = 0; k < result.length; ++k) {
        values[result.place(o, k, i)] = line[places[k]];
        indices[result.place(o, k, i)] = static_cast<int64_t>(places[k]);
      }
    }
  });
  node.store(0, std::move(values));
  node.store(1, std::move(indices));
}

void eval_top_k(Eval& node) {
  with_carrier(node.dtype(0), [&](auto zero) { eval_lines<decltype(zero)>(node); });
}

}  // namespace

OperatorRows operator_reduce_top_k() {
  static constexpr Operator kRows[] = {
      {.name = "TopK", .infer = infer_top_k, .eval = eval_top_k},
  };
  return kRows;
}

}  // namespace assay::ops
