#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

std::vector<int64_t> pooled_shape(const Node& node) {
  std::vector<int64_t> shape = node.integers("pooled_shape");
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1) {
    fail(ErrorCode::shape, "attribute `pooled_shape` must be two positive numbers");
  }
  return shape;
}

void infer_roi_pool(Infer& node) {
  node.require_rank(0, 4);
  node.require_rank(1, 2);
  if (node.is_ranked(1)) unify(node.dims(1)[1], 5, "the numbers of a region and 5");
  const std::vector<int64_t> pooled = pooled_shape(node);
  node.set_dims(0, {node.is_ranked(1) ? node.dims(1)[0] : Dim(), node.is_ranked(0) ? node.dims(0)[1] : Dim(), pooled[0],
                    pooled[1]});
}

// Along one axis, the elements of each bin of a region; regions have whole borders, both of which belong to them.
struct Bins {
  std::vector<std::pair<int64_t, int64_t>> ranges;

  Bins(double first, double last, double scale, int64_t count, int64_t size) {
    const double begin = std::round(first * scale);
    const double length = std::max(std::round(last * scale) - begin + 1, 1.0);
    const double step = length / static_cast<double>(count);
    const auto place = [&](double at) { return static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(size))); };
    for (int64_t i = 0; i < count; ++i) {
      ranges.emplace_back(place(std::floor(static_cast<double>(i) * step) + begin),
                          place(std::ceil(static_cast<double>(i + 1) * step) + begin));
    }
  }
};

double largest(const double* plane, int64_t width, std::pair<int64_t, int64_t> rows,
               std::pair<int64_t, int64_t> columns) {
  if (rows.second <= rows.first || columns.second <= columns.first) return 0;
  double best = plane[rows.first * width + columns.first];
  for (int64_t y = rows.first; y < rows.second; ++y) {
    for (int64_t x = columns.first; x < columns.second; ++x) {
      const double value = plane[y * width + x];
      best = value > best || std::isnan(value) ? value : best;
    }
  }
  return best;
}

uint64_t batch_of(double index, int64_t batches) {
  if (!(index >= 0 && index < static_cast<double>(batches))) {
    fail(ErrorCode::shape, "a region is of image {}, there are {} images", index, batches);
  }
  return static_cast<uint64_t>(index);
}

void eval_roi_pool(Eval& node) {
  const Shape& shape = node.shape(0);
  const std::vector<double> input = node.load<double>(0);
  const std::vector<double> rois = node.load<double>(1);
  const std::vector<int64_t> pooled = pooled_shape(node);
  const double scale = node.floating("spatial_scale");
  const auto channels = static_cast<uint64_t>(shape[1]);
  const auto plane = static_cast<uint64_t>(shape[2] * shape[3]);
  const auto bins = static_cast<uint64_t>(pooled[0] * pooled[1]);
  std::vector<double> out(node.out_count(0));
  for (uint64_t r = 0; r < rois.size() / 5; ++r) {
    const double* roi = rois.data() + r * 5;
    for (int i = 1; i < 5; ++i) {
      if (!std::isfinite(roi[i])) fail(ErrorCode::shape, "region {} has a border at {}", r, roi[i]);
    }
    const uint64_t batch = batch_of(roi[0], shape[0]);
    const Bins rows(roi[2], roi[4], scale, pooled[0], shape[2]);
    const Bins columns(roi[1], roi[3], scale, pooled[1], shape[3]);
    parallel_for(channels, 8, [&](uint64_t begin, uint64_t end) {
      for (uint64_t at = begin * bins; at < end * bins; ++at) {
        const uint64_t bin = at % bins;
        out[r * channels * bins + at] = largest(input.data() + (batch * channels + at / bins) * plane, shape[3],
                                                rows.ranges[bin / static_cast<uint64_t>(pooled[1])],
                                                columns.ranges[bin % static_cast<uint64_t>(pooled[1])]);
      }
    });
  }
  node.store(0, std::move(out));
}

// Regions may cover the whole image, and bins overlap by a border.
Dim work_of_roi_pool(const Infer& node) {
  if (!node.is_ranked(0) || !node.is_ranked(1)) return {};
  return node.dims(1)[0] * product(std::span(node.dims(0)).subspan(1));
}

}  // namespace

OperatorRows operator_pool_roi_pool() {
  static constexpr Operator kRows[] = {
      {.name = "MaxRoiPool",
       .traits = {Nature::pool, {.places = {1}}},
       .infer = infer_roi_pool,
       .eval = eval_roi_pool,
       .work = work_of_roi_pool},
  };
  return kRows;
}

}  // namespace assay::ops
