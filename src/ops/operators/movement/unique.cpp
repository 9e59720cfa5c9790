#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// NaN counts as larger than every number and equal to itself.
template <typename C>
int compare(const C& a, const C& b) {
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  }
  if constexpr (std::is_same_v<C, std::complex<double>>) {
    const int real = compare(a.real(), b.real());
    return real != 0 ? real : compare(a.imag(), b.imag());
  } else {
    return a < b ? -1 : static_cast<int>(b < a);
  }
}

struct Uniques {
  std::vector<uint64_t> firsts;  // of each, where it occurs first
  std::vector<int64_t> inverse;
  std::vector<int64_t> counts;
};

// `same(a, b)` of neighbours in an order where equals are neighbours and ascending.
template <typename Same>
Uniques group(const std::vector<uint64_t>& order, Same same) {
  Uniques result;
  result.inverse.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !same(order[i - 1], order[i])) {
      result.firsts.push_back(order[i]);
      result.counts.push_back(0);
    }
    ++result.counts.back();
    result.inverse[order[i]] = static_cast<int64_t>(result.counts.size()) - 1;
  }
  return result;
}

template <typename C>
Uniques find_uniques(const Tensor& tensor, const AxisView& view) {
  const std::vector<C> data = load_elements<C>(tensor);
  const auto compare_slices = [&](uint64_t a, uint64_t b) {
    for (uint64_t o = 0; o < view.outer; ++o) {
      for (uint64_t i = 0; i < view.inner; ++i) {
        const int order = compare(data[view.place(o, a, i)], data[view.place(o, b, i)]);
        if (order != 0) return order;
      }
    }
    return 0;
  };
  std::vector<uint64_t> order(view.length);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](uint64_t a, uint64_t b) { return compare_slices(a, b) < 0; });
  return group(order, [&](uint64_t a, uint64_t b) { return compare_slices(a, b) == 0; });
}

Uniques find_uniques(const Tensor& tensor, const AxisView& view) {
  switch (tensor::kind(tensor.dtype())) {
    case tensor::DTypeKind::string:
      return find_uniques<std::string>(tensor, view);
    case tensor::DTypeKind::complex:
      return find_uniques<std::complex<double>>(tensor, view);
    default:
      return with_carrier(tensor.dtype(), [&](auto zero) { return find_uniques<decltype(zero)>(tensor, view); });
  }
}

// Put in the order of their first occurrence.
Uniques by_occurrence(const Uniques& sorted) {
  std::vector<size_t> order(sorted.firsts.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](size_t i) { return sorted.firsts[i]; });
  Uniques result;
  std::vector<int64_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<int64_t>(i);
    result.firsts.push_back(sorted.firsts[order[i]]);
    result.counts.push_back(sorted.counts[order[i]]);
  }
  for (const int64_t group : sorted.inverse) result.inverse.push_back(place[static_cast<size_t>(group)]);
  return result;
}

void infer_unique(Infer& node) {
  const int64_t sorted = node.integer("sorted", 1);
  if (sorted != 0 && sorted != 1) fail(ErrorCode::shape, "`sorted` is {}, it must be 0 or 1", sorted);
  for (uint32_t i = 1; i < node.output_count(); ++i) {
    node.set_dtype(i, DType::int64);
    node.set_dims(i, {Dim()});
  }
  if (!node.has_attribute("axis")) return node.set_dims(0, {Dim()});
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  dims[static_cast<size_t>(normalize_axis(node.integer("axis"), node.rank(0)))] = Dim();
  node.set_dims(0, std::move(dims));
}

Tensor take_slices(const Tensor& tensor, Shape shape, const AxisView& view, const std::vector<uint64_t>& slices) {
  const MoveFrom source(tensor);
  MoveTo target(tensor.dtype(), std::move(shape));
  uint64_t at = 0;
  for (uint64_t o = 0; o < view.outer && view.inner != 0; ++o) {
    for (const uint64_t slice : slices) {
      target.copy(source, view.place(o, slice, 0), at, view.inner);
      at += view.inner;
    }
  }
  return target.finish();
}

void eval_unique(Eval& node) {
  const Tensor& tensor = node.tensor_in(0);
  const bool is_flat = !node.has_attribute("axis");
  const int64_t axis = is_flat ? 0 : normalize_axis(node.integer("axis"), node.rank(0));
  const AxisView view = is_flat ? AxisView{1, tensor.count(), 1} : view_axis(tensor.shape(), axis);
  Uniques uniques = find_uniques(tensor, view);
  if (node.integer("sorted", 1) == 0) uniques = by_occurrence(uniques);
  const auto count = static_cast<int64_t>(uniques.firsts.size());
  Shape shape = is_flat ? Shape{0} : tensor.shape();
  shape[static_cast<size_t>(axis)] = count;
  node.set_tensor(0, take_slices(tensor, shape, view, uniques.firsts));
  node.store(1, {count}, std::vector<int64_t>(uniques.firsts.begin(), uniques.firsts.end()));
  node.store(2, {static_cast<int64_t>(view.length)}, std::move(uniques.inverse));
  node.store(3, {count}, std::move(uniques.counts));
}

}  // namespace

OperatorRows operator_movement_unique() {
  static constexpr Operator kRows[] = {
      {.name = "Unique",
       .since = 11,
       .traits = {Nature::selection, {.counts_elements = true}},
       .infer = infer_unique,
       .eval = eval_unique},
  };
  return kRows;
}

}  // namespace assay::ops
