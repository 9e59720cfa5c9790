#include "ops/kernels/window/roi.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace assay::ops {
namespace {

constexpr double kMostSamples = 1 << 20;  // of one bin along one axis

int64_t samples_of(double length, int64_t bins, int64_t ratio) {
  const double wanted = ratio > 0 ? static_cast<double>(ratio) : std::ceil(length / static_cast<double>(bins));
  if (!(wanted <= kMostSamples)) fail(ErrorCode::shape, "a bin of a region has {} samples along an axis", wanted);
  return static_cast<int64_t>(std::max(wanted, 0.0));
}

}  // namespace

RoiSample::RoiSample(double at, int64_t size) {
  is_outside = !(at >= -1 && at <= static_cast<double>(size)) || size == 0;
  if (is_outside) return;
  const double inside = std::max(at, 0.0);
  low = std::min(static_cast<int64_t>(inside), size - 1);
  high = std::min(low + 1, size - 1);
  rest = low == high ? 0 : inside - static_cast<double>(low);
}

RoiSample RoiAxis::sample(int64_t bin, int64_t i) const {
  const double step = length / static_cast<double>(bins);
  const double place = (static_cast<double>(i) + 0.5) * step / static_cast<double>(samples_per_bin);
  return {start + static_cast<double>(bin) * step + place, size};
}

RoiAxis::Range RoiAxis::near_picture(int64_t bin) const {
  const double step = length / static_cast<double>(bins);
  const double distance = step / static_cast<double>(samples_per_bin);
  if (!(distance > 0)) return {0, samples_per_bin};
  const double first = start + static_cast<double>(bin) * step;
  const auto count = static_cast<double>(samples_per_bin);
  const auto at = [&](double place) { return std::clamp((place - first) / distance, -2.0, count + 2); };
  // One more on both sides, for what rounding does to them.
  const auto begin = static_cast<int64_t>(std::clamp(at(-1) - 2, 0.0, count));
  const auto end = static_cast<int64_t>(std::clamp(at(static_cast<double>(size)) + 2, 0.0, count));
  return {begin, std::max(begin, end)};
}

void check_roi_image(int64_t region, int64_t image, int64_t images) {
  if (image >= 0 && image < images) return;
  fail(ErrorCode::shape, "region {} is of image {}, there are {} images", region, image, images);
}

RoiRules::RoiRules(const Node& node)
    : scale(node.floating("spatial_scale")),
      is_half_pixel(node.string("coordinate_transformation_mode", "output_half_pixel") == "half_pixel"),
      ratio(node.integer("sampling_ratio")),
      height(node.integer("output_height")),
      width(node.integer("output_width")) {}

RoiRegion RoiRules::region(const double* roi, int64_t picture_height, int64_t picture_width) const {
  const double offset = is_half_pixel ? 0.5 : 0;
  const auto axis = [&](size_t first, int64_t bins, int64_t size) {
    const double start = roi[first] * scale - offset;
    const double given = roi[first + 2] * scale - offset - start;
    const double length = is_half_pixel ? given : std::max(given, 1.0);
    return RoiAxis{start, length, bins, size, samples_of(length, bins, ratio)};
  };
  return {axis(1, height, picture_height), axis(0, width, picture_width)};
}

}  // namespace assay::ops
