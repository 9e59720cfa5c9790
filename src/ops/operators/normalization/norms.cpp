#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/elements/moments.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr double kSmallestDeviation = 1e-9;  // is added, by the operator's definition

void infer_mean_variance(Infer& node) {
  if (node.is_ranked(0)) normalize_axes(node.integers("axes"), node.rank(0));
  infer_same_as_first(node);
}

// Offsets of all index combinations along the given axes, ascending.
std::vector<uint64_t> offsets_along(const Shape& shape, const std::vector<bool>& along) {
  const std::vector<int64_t> strides = row_major_strides(shape);
  std::vector<uint64_t> offsets = {0};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!along[axis]) continue;
    std::vector<uint64_t> next;
    for (const uint64_t base : offsets) {
      for (int64_t i = 0; i < shape[axis]; ++i) next.push_back(base + static_cast<uint64_t>(i * strides[axis]));
    }
    offsets = std::move(next);
  }
  return offsets;
}

void eval_mean_variance(Eval& node) {
  std::vector<double> data = node.load<double>(0);
  std::vector<bool> is_reduced(node.shape(0).size());
  for (const int64_t axis : normalize_axes(node.integers("axes"), node.rank(0))) {
    is_reduced[static_cast<size_t>(axis)] = true;
  }
  if (!data.empty()) {
    const std::vector<uint64_t> within = offsets_along(node.shape(0), is_reduced);
    is_reduced.flip();
    const std::vector<uint64_t> bases = offsets_along(node.shape(0), is_reduced);
    parallel_for(bases.size(), 1, [&](uint64_t b, uint64_t) {
      double* base = data.data() + bases[b];
      const Moments moments = moments_of(within.size(), [&](uint64_t i) { return base[within[i]]; });
      const double deviation = std::sqrt(moments.variance) + kSmallestDeviation;
      for (const uint64_t offset : within) base[offset] = (base[offset] - moments.mean) / deviation;
    });
  }
  node.store(0, std::move(data));
}

void infer_lp(Infer& node) {
  const int64_t p = node.integer("p");
  if (p != 1 && p != 2) fail(ErrorCode::shape, "attribute `p` is {}, expected 1 or 2", p);
  if (node.is_ranked(0)) normalize_axis(node.integer("axis"), node.rank(0));
  infer_same_as_first(node);
}

// A line of zeros stays one.
void eval_lp(Eval& node) {
  std::vector<double> data = node.load<double>(0);
  const AxisView view = view_axis(node.shape(0), normalize_axis(node.integer("axis"), node.rank(0)));
  const bool is_euclidean = node.integer("p") == 2;
  parallel_for(data.empty() ? 0 : view.outer * view.inner, 16, [&](uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; ++at) {
      double* first = data.data() + view.place(at / view.inner, 0, at % view.inner);
      double sum = 0;
      for (uint64_t k = 0; k < view.length; ++k) {
        const double x = first[k * view.inner];
        sum += is_euclidean ? x * x : std::abs(x);
      }
      const double norm = is_euclidean ? std::sqrt(sum) : sum;
      for (uint64_t k = 0; k < view.length && norm != 0; ++k) first[k * view.inner] /= norm;
    }
  });
  node.store(0, std::move(data));
}

void infer_lrn(Infer& node) {
  if (node.integer("size") < 1) fail(ErrorCode::shape, "attribute `size` is {}", node.integer("size"));
  if (node.is_ranked(0) && node.rank(0) < 2) {
    fail(ErrorCode::shape, "the input must have batch and channels, its shape is {}", text(node.dims(0)));
  }
  infer_same_as_first(node);
}

void eval_lrn(Eval& node) {
  const std::vector<double> data = node.load<double>(0);
  const AxisView view = view_axis(node.shape(0), 1);
  const auto channels = static_cast<int64_t>(view.length);
  const int64_t size = node.integer("size");
  const int64_t before = std::min((size - 1) / 2, channels);
  const int64_t after = std::min(size / 2, channels);
  const double factor = node.floating("alpha") / static_cast<double>(size);
  const double beta = node.floating("beta");
  const double bias = node.floating("bias");
  std::vector<double> out(data.size());
  parallel_for(data.empty() ? 0 : view.outer * view.length, 1, [&](uint64_t line, uint64_t) {
    const auto c = static_cast<int64_t>(line % view.length);
    const uint64_t image = line / view.length;
    for (uint64_t i = 0; i < view.inner; ++i) {
      double sum = 0;
      for (int64_t k = std::max<int64_t>(c - before, 0); k <= std::min(c + after, channels - 1); ++k) {
        const double x = data[view.place(image, static_cast<uint64_t>(k), i)];
        sum += x * x;
      }
      const uint64_t place = line * view.inner + i;
      out[place] = data[place] / std::pow(bias + factor * sum, beta);
    }
  });
  node.store(0, std::move(out));
}

Dim work_of_lrn(const Infer& node) {
  if (!node.is_ranked(0)) return {};
  return product(node.dims(0)) * min(node.dims(0)[1], node.integer("size"));
}

}  // namespace

OperatorRows operator_normalization_norms() {
  static constexpr Operator kRows[] = {
      {.name = "MeanVarianceNormalization",
       .since = 9,
       .traits = {Nature::normalization},
       .infer = infer_mean_variance,
       .eval = eval_mean_variance},
      {.name = "LpNormalization",
       .traits = {Nature::normalization, {.range = ValueRange::around_zero}},
       .infer = infer_lp,
       .eval = eval_lp},
      {.name = "LRN", .traits = {Nature::normalization}, .infer = infer_lrn, .eval = eval_lrn, .work = work_of_lrn},
  };
  return kRows;
}

}  // namespace assay::ops
