#include <algorithm>
#include <cstring>
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

template <typename T>
constexpr uint64_t kAtOnce = 64 / sizeof(T);

// True if one of kAtOnce elements may be better than this one: NaN may.
template <typename T, bool kLargest>
bool may_be_better(const T* elements, T worst) {
  using Group [[gnu::vector_size(16)]] = T;
  using Mask [[gnu::vector_size(16)]] = int64_t;
  Mask beaten = {-1, -1};
  for (size_t g = 0; g < 4; ++g) {
    Group group;
    std::memcpy(&group, elements + g * (kAtOnce<T> / 4), sizeof group);
    const Group bound = worst - Group{};
    beaten &= reinterpret_cast<Mask>(kLargest ? group <= bound : group >= bound);
  }
  return (beaten[0] & beaten[1]) != -1;
}

// Places of a line's `count` best elements, the best first; of equal ones the lower place first. The worst of those so
// far is on top of a heap.
template <typename T, bool kLargest>
std::vector<uint64_t> best_places(std::span<const T> line, size_t count) {
  const auto is_better = [](T a, T b) { return kLargest ? is_less(b, a) : is_less(a, b); };
  const auto stands_before = [&](uint64_t a, uint64_t b) {
    return is_better(line[a], line[b]) || (!is_better(line[b], line[a]) && a < b);
  };
  std::vector<uint64_t> places(count);
  if (count == 0) return places;
  std::iota(places.begin(), places.end(), uint64_t{0});
  std::ranges::make_heap(places, stands_before);
  T worst = line[places.front()];
  for (uint64_t i = count; i < line.size(); ++i) {
    while (i + kAtOnce<T> <= line.size() && !may_be_better<T, kLargest>(line.data() + i, worst)) i += kAtOnce<T>;
    if (i == line.size()) break;
    if (!is_better(line[i], worst)) continue;
    std::ranges::pop_heap(places, stands_before);
    places.back() = i;
    std::ranges::push_heap(places, stands_before);
    worst = line[places.front()];
  }
  std::ranges::sort_heap(places, stands_before);
  return places;
}

// Evaluates all lines. If sorted=0 leaves the order open, it is the sorted one.
template <typename T>
void eval_lines(Eval& node, std::span<const T> data) {
  const int64_t axis = normalize_axis(node.integer("axis"), node.rank(0));
  const AxisView view = view_axis(node.shape(0), axis);
  const AxisView result = view_axis(node.out_shape(0), axis);
  const bool largest = node.integer("largest", 1) != 0;
  const MoveFrom from(node.tensor_in(0));
  MoveTo values(node.tensor_in(0).dtype(), node.out_shape(0));
  std::vector<int64_t> indices(node.out_count(0));
  const uint64_t lines = indices.empty() ? 0 : view.outer * view.inner;
  parallel_for(lines, 16384 / std::max<uint64_t>(view.length, 1) + 1, [&](uint64_t begin, uint64_t end) {
    std::vector<T> copied(view.inner == 1 ? 0 : view.length);
    for (uint64_t at = begin; at < end; ++at) {
      const uint64_t o = at / view.inner;
      const uint64_t i = at % view.inner;
      for (uint64_t k = 0; k < copied.size(); ++k) copied[k] = data[view.place(o, k, i)];
      const std::span<const T> line = copied.empty() ? data.subspan(at * view.length, view.length) : copied;
      const std::vector<uint64_t> places =
          largest ? best_places<T, true>(line, result.length) : best_places<T, false>(line, result.length);
      for (uint64_t k = 0; k < result.length; ++k) {
        values.copy(from, view.place(o, places[k], i), result.place(o, k, i));
        indices[result.place(o, k, i)] = static_cast<int64_t>(places[k]);
      }
    }
  });
  node.set_tensor(0, values.finish());
  node.store(1, std::move(indices));
}

void eval_top_k(Eval& node) {
  const Tensor& data = node.tensor_in(0);
  const bool is_aligned = reinterpret_cast<uintptr_t>(data.bytes().data()) % alignof(float) == 0;
  if (data.dtype() == DType::float32 && is_aligned) {
    return eval_lines<float>(node, {reinterpret_cast<const float*>(data.bytes().data()), data.count()});
  }
  with_carrier(node.dtype(0), [&](auto zero) {
    const auto elements = node.load<decltype(zero)>(0);
    eval_lines<decltype(zero)>(node, elements);
  });
}

}  // namespace

OperatorRows operator_reduce_top_k() {
  static constexpr Operator kRows[] = {
      {.name = "TopK",
       .traits = {Nature::selection, {.range = ValueRange::first, .sizes = {1}}},
       .infer = infer_top_k,
       .eval = eval_top_k},
  };
  return kRows;
}

}  // namespace assay::ops
