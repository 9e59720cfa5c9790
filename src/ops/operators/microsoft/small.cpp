#include <algorithm>
#include <cmath>
#include <map>

#include "base/parallel.h"
#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_inverse(Infer& node) {
  infer_same_as_first(node);
  if (!node.is_ranked(0)) return;
  if (node.rank(0) < 2)
    fail(ErrorCode::shape, "the input must have a rank of 2 or more, its shape is {}", text(node.dims(0)));
  unify(node.dims(0)[node.dims(0).size() - 2], node.dims(0).back(), "rows and columns");
}

// Gauss-Jordan elimination with partial pivoting; a singular matrix gives infinities and NaNs.
void invert(std::span<double> matrix, uint64_t n) {
  std::vector<double> result(n * n);
  for (uint64_t i = 0; i < n; ++i) result[i * n + i] = 1;
  for (uint64_t k = 0; k < n; ++k) {
    uint64_t pivot = k;
    for (uint64_t r = k + 1; r < n; ++r) {
      if (std::abs(matrix[r * n + k]) > std::abs(matrix[pivot * n + k])) pivot = r;
    }
    for (uint64_t c = 0; c < n && pivot != k; ++c) {
      std::swap(matrix[k * n + c], matrix[pivot * n + c]);
      std::swap(result[k * n + c], result[pivot * n + c]);
    }
    const double divisor = matrix[k * n + k];
    for (uint64_t c = 0; c < n; ++c) {
      matrix[k * n + c] /= divisor;
      result[k * n + c] /= divisor;
    }
    for (uint64_t r = 0; r < n; ++r) {
      const double factor = matrix[r * n + k];
      if (r == k || factor == 0) continue;
      for (uint64_t c = 0; c < n; ++c) {
        matrix[r * n + c] -= factor * matrix[k * n + c];
        result[r * n + c] -= factor * result[k * n + c];
      }
    }
  }
  std::ranges::copy(result, matrix.begin());
}

void eval_inverse(Eval& node) {
  std::vector<double> data = node.load<double>(0);
  const auto n = static_cast<uint64_t>(node.shape(0).back());
  parallel_for(data.empty() ? 0 : data.size() / (n * n), 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) invert(std::span(data).subspan(i * n * n, n * n), n);
  });
  node.store(0, std::move(data));
}

// Every element of a matrix, and of the one beside it, is changed once for each row.
Dim work_of_inverse(const Infer& node) {
  if (!node.is_ranked(0)) return {};
  return product(node.dims(0)) * node.dims(0).back() * Dim(2);
}

void infer_expand_dims(Infer& node) {
  if (node.is_ranked(1) && !product(node.dims(1)).is(1) && product(node.dims(1)).is_number()) {
    fail(ErrorCode::shape, "the axis must be one number, its shape is {}", text(node.dims(1)));
  }
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  const std::optional<int64_t> axis = node.integer_of(1);
  if (!axis) return node.set_dims(0, Dims(dims.size() + 1));
  dims.insert(dims.begin() + normalize_axis(*axis, node.rank(0) + 1), Dim(1));
  node.set_dims(0, std::move(dims));
}

void eval_expand_dims(Eval& node) { node.set_tensor(0, reshaped(node.tensor_in(0), node.out_shape(0))); }

void infer_unique(Infer& node) {
  node.require_rank(0, 1);
  node.set_dims(0, {Dim()});
  node.set_dtype(1, DType::int64);
  node.set_dims(1, {node.is_ranked(0) ? node.dims(0)[0] : Dim()});
  node.set_dtype(2, DType::int64);
  node.set_dims(2, {Dim()});
}

// Values in the order of their first occurrence.
template <typename C>
void store_uniques(Eval& node) {
  std::map<C, int64_t> places;
  std::vector<C> values;
  std::vector<int64_t> inverse;
  std::vector<int64_t> counts;
  for (const C& element : node.load<C>(0)) {
    const auto [entry, is_new] = places.emplace(element, static_cast<int64_t>(values.size()));
    if (is_new) {
      values.push_back(element);
      counts.push_back(0);
    }
    ++counts[static_cast<size_t>(entry->second)];
    inverse.push_back(entry->second);
  }
  const auto count = static_cast<int64_t>(values.size());
  node.store(0, {count}, std::move(values));
  node.store(1, std::move(inverse));
  node.store(2, {count}, std::move(counts));
}

void eval_unique(Eval& node) {
  if (node.dtype(0) == DType::string) return store_uniques<std::string>(node);
  with_carrier(node.dtype(0), [&](auto zero) { store_uniques<decltype(zero)>(node); });
}

void infer_complex_mul(Infer& node) {
  if (!node.all_ranked()) return;
  for (uint32_t i = 0; i < 2; ++i) {
    if (node.rank(i) < 1) fail(ErrorCode::shape, "input {} must have a rank of 1 or more", i);
    unify(node.dims(i).back(), 2, "the last dim (real and imaginary part) and 2");
  }
  node.set_dims(0, broadcast(node.dims(0), node.dims(1)));
}

// Pairs of real and imaginary part along the last axis.
void multiply_complex(Eval& node, double conjugates) {
  const Shape shape = node.out_shape(0);
  std::vector<double> a(node.out_count(0));
  std::vector<double> b(a.size());
  BroadcastReader(node.tensor_in(0), shape).read(0, std::span(a));
  BroadcastReader(node.tensor_in(1), shape).read(0, std::span(b));
  for (size_t i = 0; i + 1 < a.size(); i += 2) {
    const double real = a[i] * b[i] - conjugates * a[i + 1] * b[i + 1];
    a[i + 1] = a[i + 1] * b[i] + conjugates * a[i] * b[i + 1];
    a[i] = real;
  }
  node.store(0, std::move(a));
}

bool is_euclidean(const Node& node) {
  const std::string_view metric = node.string("metric");
  if (metric == "euclidean" || metric == "sqeuclidean") return metric == "euclidean";
  fail(ErrorCode::shape, "there is no metric `{}`", metric);
}

void infer_cdist(Infer& node) {
  is_euclidean(node);
  node.require_rank(0, 2);
  node.require_rank(1, 2);
  if (!node.all_ranked()) return node.set_dims(0, Dims(2));
  unify(node.dims(0)[1], node.dims(1)[1], "numbers of features");
  node.set_dims(0, {node.dims(0)[0], node.dims(1)[0]});
}

void eval_cdist(Eval& node) {
  const bool takes_root = is_euclidean(node);
  const std::vector<double> a = node.load<double>(0);
  const std::vector<double> b = node.load<double>(1);
  const auto width = static_cast<uint64_t>(node.shape(0)[1]);
  const auto columns = static_cast<uint64_t>(node.shape(1)[0]);
  std::vector<double> result(node.out_count(0));
  parallel_for(result.size(), 256, [&](uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; ++at) {
      double sum = 0;
      for (uint64_t k = 0; k < width; ++k) {
        const double distance = a[at / columns * width + k] - b[at % columns * width + k];
        sum += distance * distance;
      }
      result[at] = takes_root ? std::sqrt(sum) : sum;
    }
  });
  node.store(0, std::move(result));
}

Dim work_of_cdist(const Infer& node) {
  if (!node.is_ranked(0) || !node.is_ranked(1)) return {};
  return product(node.dims(0)) * node.dims(1)[0];
}

}  // namespace

OperatorRows operator_microsoft_small() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "Inverse",
       .traits = {Nature::product},
       .infer = infer_inverse,
       .eval = eval_inverse,
       .work = work_of_inverse},
      {.domain = kMicrosoft,
       .name = "ExpandDims",
       .traits = {Nature::movement, {.moves = Moves::in_order, .sizes = {1}}},
       .infer = infer_expand_dims,
       .eval = eval_expand_dims},
      {.domain = kMicrosoft,
       .name = "Unique",
       .traits = {Nature::selection, {.counts_elements = true}},
       .infer = infer_unique,
       .eval = eval_unique},
      {.domain = kMicrosoft,
       .name = "ComplexMul",
       .traits = {Nature::product},
       .infer = infer_complex_mul,
       .eval = [](Eval& node) { multiply_complex(node, 1); }},
      {.domain = kMicrosoft,
       .name = "ComplexMulConj",
       .traits = {Nature::product},
       .infer = infer_complex_mul,
       .eval = [](Eval& node) { multiply_complex(node, -1); }},
      {.domain = kMicrosoft,
       .name = "CDist",
       .traits = {Nature::product},
       .infer = infer_cdist,
       .eval = eval_cdist,
       .work = work_of_cdist},
  };
  return kRows;
}

}  // namespace assay::ops
