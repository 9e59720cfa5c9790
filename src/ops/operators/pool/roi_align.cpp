#include <algorithm>

#include "base/parallel.h"
#include "ops/kernels/window/roi.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

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

// The samples of all bins along one axis, bin by bin.
struct AxisSamples {
  int64_t per_bin = 0;
  std::vector<RoiSample> samples;

  explicit AxisSamples(const RoiAxis& axis) : per_bin(axis.samples_per_bin) {
    for (int64_t bin = 0; bin < axis.bins; ++bin) {
      for (int64_t i = 0; i < per_bin; ++i) samples.push_back(axis.sample(bin, i));
    }
  }
  std::span<const RoiSample> of(int64_t bin) const {
    return std::span(samples).subspan(static_cast<size_t>(bin * per_bin), static_cast<size_t>(per_bin));
  }
};

// The four neighbours of a sample, each with its weight.
struct Corners {
  double values[4] = {0, 0, 0, 0};

  Corners(const double* plane, int64_t width, const RoiSample& y, const RoiSample& x) {
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
double pool_bin(const double* plane, int64_t width, std::span<const RoiSample> rows, std::span<const RoiSample> columns,
                bool takes_max) {
  double sum = 0;
  double best = 0;
  bool is_first = true;
  for (const RoiSample& y : rows) {
    for (const RoiSample& x : columns) {
      const Corners corners(plane, width, y, x);
      sum += corners.sum();
      best = is_first ? corners.largest() : std::max(best, corners.largest());
      is_first = false;
    }
  }
  if (takes_max) return best;
  return sum / static_cast<double>(std::max<size_t>(rows.size() * columns.size(), 1));
}

// Four neighbours for each sample of each bin; how many samples there are may depend on the regions.
Dim macs_of_roi_align(const Infer& node) {
  if (!node.is_ranked(0) || !node.is_ranked(1)) return {};
  const RoiRules rules(node);
  const Dim of_sample = Dim(4) * node.dims(0)[1] * Dim(rules.height) * Dim(rules.width);
  if (rules.ratio > 0) return of_sample * node.dims(1)[0] * Dim(rules.ratio) * Dim(rules.ratio);
  if (!node.constant(1)) return {};
  const std::vector<double> rois = load_elements<double>(*node.constant(1));
  Dim samples = 0;
  for (size_t r = 0; r + 4 <= rois.size(); r += 4) {
    const RoiRegion region = rules.region(rois.data() + r, 0, 0);
    samples = samples + Dim(region.rows.samples_per_bin) * Dim(region.columns.samples_per_bin);
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
  const RoiRules rules(node);
  const uint64_t bins = static_cast<uint64_t>(result[2] * result[3]);
  std::vector<double> out(node.out_count(0));
  for (uint64_t r = 0; r < batches.size(); ++r) {
    check_roi_image(static_cast<int64_t>(r), batches[r], shape[0]);
    const RoiRegion region = rules.region(rois.data() + r * 4, shape[2], shape[3]);
    const AxisSamples rows(region.rows);
    const AxisSamples columns(region.columns);
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
      {.name = "RoiAlign",
       .since = 10,
       .traits = {Nature::sampling, {.indices = {2}, .places = {1}}},
       .infer = infer_roi_align,
       .eval = eval_roi_align,
       .macs = macs_of_roi_align},
  };
  return kRows;
}

}  // namespace assay::ops
