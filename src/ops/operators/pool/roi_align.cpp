#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr double kMostSamples = 1 << 20;  // of one bin along one axis

void check_attributes(const Node& node) {
  const std::string_view mode = node.string("mode");
  if (mode != "avg" && mode != "max") fail(ErrorCode::shape, "attribute `mode` is `{}`, expected avg or max", mode);
  const std::string_view word = node.string("coordinate_transformation_mode", "output_half_pixel");
  if (word != "half_pixel" && word != "output_half_pixel") {
    fail(ErrorCode::shape,
         "attribute `coordinate_transformation_mode` is `{}`, expected half_pixel or output_half_pixel", word);
  }
  for (const std::string_view name : {"output_height", "output_width"}) {
    if (node.integer(name) < 1) fail(ErrorCode::shape, "attribute `{}` is {}", name, node.integer(name));
  }
  if (node.integer("sampling_ratio") < 0) {
    fail(ErrorCode::shape, "attribute `sampling_ratio` is {}", node.integer("sampling_ratio"));
  }
}

void infer_roi_align(Infer& node) {
  check_attributes(node);
  node.require_rank(0, 4);
  node.require_rank(1, 2);
  node.require_rank(2, 1);
  if (node.is_ranked(1)) unify(node.dims(1)[1], 4, "the numbers of a region and 4");
  Dim count = node.is_ranked(1) ? node.dims(1)[0] : Dim();
  if (node.is_ranked(2)) count = unify(count, node.dims(2)[0], "regions and batch indices");
  node.set_dims(0, {count, node.is_ranked(0) ? node.dims(0)[1] : Dim(), node.integer("output_height"),
                    node.integer("output_width")});
}

// Where one sample lies along an axis: between `low` and `high`, `rest` of the way.
struct Sample {
  int64_t low = 0;
  int64_t high = 0;
  double rest = 0;
  bool is_outside = false;

  Sample(double at, int64_t size) {
    is_outside = !(at >= -1 && at <= static_cast<double>(size)) || size == 0;
    if (is_outside) return;
    const double inside = std::max(at, 0.0);
    low = std::min(static_cast<int64_t>(inside), size - 1);
    high = std::min(low + 1, size - 1);
    rest = low == high ? 0 : inside - static_cast<double>(low);
  }
};

// How many samples a bin has along one axis.
int64_t samples_per_bin(double length, int64_t bins, int64_t ratio) {
  const double wanted = ratio > 0 ? static_cast<double>(ratio) : std::ceil(length / static_cast<double>(bins));
  if (!(wanted <= kMostSamples)) fail(ErrorCode::shape, "a bin of a region has {} samples along an axis", wanted);
  return static_cast<int64_t>(std::max(wanted, 0.0));
}

// The samples of all bins along one axis, bin by bin.
struct AxisSamples {
  int64_t per_bin = 0;
  std::vector<Sample> samples;

  AxisSamples(double start, double length, int64_t bins, int64_t ratio, int64_t size)
      : per_bin(samples_per_bin(length, bins, ratio)) {
    const double step = length / static_cast<double>(bins);
    for (int64_t bin = 0; bin < bins; ++bin) {
      for (int64_t i = 0; i < per_bin; ++i) {
        samples.emplace_back(start + static_cast<double>(bin) * step +
                                 (static_cast<double>(i) + 0.5) * step / static_cast<double>(per_bin),
                             size);
      }
    }
  }
  std::span<const Sample> of(int64_t bin) const {
    return std::span(samples).subspan(static_cast<size_t>(bin * per_bin), static_cast<size_t>(per_bin));
  }
};

// The four neighbours of a sample, each with its weight.
struct Corners {
  double values[4] = {0, 0, 0, 0};

  Corners(const double* plane, int64_t width, const Sample& y, const Sample& x) {
    if (y.is_outside || x.is_outside) return;
    values[0] = (1 - y.rest) * (1 - x.rest) * plane[y.low * width + x.low];
    values[1] = (1 - y.rest) * x.rest * plane[y.low * width + x.high];
    values[2] = y.rest * (1 - x.rest) * plane[y.high * width + x.low];
    values[3] = y.rest * x.rest * plane[y.high * width + x.high];
  }
  double sum() const { return values[0] + values[1] + values[2] + values[3]; }
  double largest() const { return *std::max_element(values, values + 4); }
};

// `max` takes the largest of all weighted neighbours, not of the interpolated samples.
double pool_bin(const double* plane, int64_t width, std::span<const Sample> rows, std::span<const Sample> columns,
                bool takes_max) {
  double sum = 0;
  double best = 0;
  bool is_first = true;
  for (const Sample& y : rows) {
    for (const Sample& x : columns) {
      const Corners corners(plane, width, y, x);
      sum += corners.sum();
      best = is_first ? corners.largest() : std::max(best, corners.largest());
      is_first = false;
    }
  }
  if (takes_max) return best;
  return sum / static_cast<double>(std::max<size_t>(rows.size() * columns.size(), 1));
}

struct Region {
  double top, left, height, width;
};

Region region_of(const Node& node, const double* roi) {
  const double scale = node.floating("spatial_scale");
  const bool is_half_pixel = node.string("coordinate_transformation_mode", "output_half_pixel") == "half_pixel";
  const double offset = is_half_pixel ? 0.5 : 0;
  const double left = roi[0] * scale - offset;
  const double top = roi[1] * scale - offset;
  const double width = roi[2] * scale - offset - left;
  const double height = roi[3] * scale - offset - top;
  if (is_half_pixel) return {top, left, height, width};
  return {top, left, std::max(height, 1.0), std::max(width, 1.0)};
}

// Four neighbours for each sample of each bin; how many samples there are may depend on the regions.
Dim macs_of_roi_align(const Infer& node) {
  if (!node.is_ranked(0) || !node.is_ranked(1)) return {};
  const int64_t ratio = node.integer("sampling_ratio");
  const int64_t height = node.integer("output_height");
  const int64_t width = node.integer("output_width");
  const Dim of_sample = Dim(4) * node.dims(0)[1] * Dim(height) * Dim(width);
  if (ratio > 0) return of_sample * node.dims(1)[0] * Dim(ratio) * Dim(ratio);
  if (!node.constant(1)) return {};
  const std::vector<double> rois = load_elements<double>(*node.constant(1));
  Dim samples = 0;
  for (size_t r = 0; r + 4 <= rois.size(); r += 4) {
    const Region region = region_of(node, rois.data() + r);
    samples = samples + Dim(samples_per_bin(region.height, height, 0)) * Dim(samples_per_bin(region.width, width, 0));
  }
  return of_sample * samples;
}

void eval_roi_align(Eval& node) {
  const Shape& shape = node.shape(0);
  const Shape result = node.out_shape(0);
  const std::vector<double> input = node.load<double>(0);
  const std::vector<double> rois = node.load<double>(1);
  const std::vector<int64_t> batches = node.integers_in(2);
  const bool takes_max = node.string("mode") == "max";
  const int64_t ratio = node.integer("sampling_ratio");
  const uint64_t bins = static_cast<uint64_t>(result[2] * result[3]);
  std::vector<double> out(node.out_count(0));
  for (uint64_t r = 0; r < batches.size(); ++r) {
    if (batches[r] < 0 || batches[r] >= shape[0]) {
      fail(ErrorCode::shape, "region {} is of image {}, there are {} images", r, batches[r], shape[0]);
    }
    const Region region = region_of(node, rois.data() + r * 4);
    const AxisSamples rows(region.top, region.height, result[2], ratio, shape[2]);
    const AxisSamples columns(region.left, region.width, result[3], ratio, shape[3]);
    parallel_for(static_cast<uint64_t>(shape[1]), 1, [&](uint64_t c, uint64_t) {
      const uint64_t plane = static_cast<uint64_t>(batches[r] * shape[1]) + c;
      const double* data = input.data() + plane * static_cast<uint64_t>(shape[2] * shape[3]);
      double* to = out.data() + (r * static_cast<uint64_t>(shape[1]) + c) * bins;
      for (int64_t y = 0; y < result[2]; ++y) {
        for (int64_t x = 0; x < result[3]; ++x) *to++ = pool_bin(data, shape[3], rows.of(y), columns.of(x), takes_max);
      }
    });
  }
  node.store(0, std::move(out));
}

}  // namespace

OperatorRows operator_pool_roi_align() {
  static constexpr Operator kRows[] = {
      {.name = "RoiAlign", .since = 10, .infer = infer_roi_align, .eval = eval_roi_align, .macs = macs_of_roi_align},
  };
  return kRows;
}

}  // namespace assay::ops
