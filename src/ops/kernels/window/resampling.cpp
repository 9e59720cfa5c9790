#include "ops/kernels/window/resampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::ops {
namespace {

constexpr std::string_view kModes[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",  "align_corners",
                                       "asymmetric", "tf_crop_and_resize",   "tf_half_pixel_for_nn"};

constexpr double kPlaceRoundoffs = 0x1p-22;  // of the greatest dim

double cubic_weight(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

double linear_weight(double distance) { return std::max(1 - std::abs(distance), 0.0); }

void divide_by_sum(std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  for (double& weight : weights) weight = sum == 0 ? weight : weight / sum;
}

}  // namespace

bool is_coordinate_mode(std::string_view mode) { return std::ranges::find(kModes, mode) != std::end(kModes); }

// The resized length of align_corners and half_pixel_symmetric is the one asked for, which may have a fraction.
double original_place(std::string_view mode, const ResampledAxis& axis, int64_t x) {
  const auto in = static_cast<double>(axis.in);
  const auto at = static_cast<double>(x);
  const double length = axis.scale * in;
  const double half_pixel = (at + 0.5) / axis.scale - 0.5;
  if (mode == "align_corners") return length == 1 ? 0 : at * (in - 1) / (length - 1);
  if (mode == "asymmetric") return at / axis.scale;
  if (mode == "pytorch_half_pixel") return axis.out > 1 ? half_pixel : 0;
  if (mode == "tf_half_pixel_for_nn") return (at + 0.5) / axis.scale;
  if (mode == "half_pixel_symmetric") {
    const double adjustment = static_cast<double>(axis.out) / length;
    return in / 2 * (1 - adjustment) + half_pixel;
  }
  if (mode != "tf_crop_and_resize") return half_pixel;
  if (axis.out <= 1) return 0.5 * (axis.roi_start + axis.roi_end) * (in - 1);
  const auto steps = static_cast<double>(axis.out - 1);
  return axis.roi_start * (in - 1) + at * (axis.roi_end - axis.roi_start) * (in - 1) / steps;
}

std::pair<double, double> rounded_places(std::string_view mode, const ResampledAxis& axis, int64_t x) {
  const double exact = original_place(mode, axis, x);
  const double widest = static_cast<double>(std::max(axis.in, axis.out));
  const bool has_corners = mode == "align_corners";
  const double in = static_cast<double>(axis.in) - (has_corners ? 1 : 0);
  const double out = axis.scale * static_cast<double>(axis.in) - (has_corners ? 1 : 0);
  const bool is_ratio = (has_corners && in > 0 && out > 0) || mode == "asymmetric" || mode.ends_with("half_pixel") ||
                        mode == "tf_half_pixel_for_nn";
  if (!is_ratio) return {exact - kPlaceRoundoffs * widest, exact + kPlaceRoundoffs * widest};
  const float at = static_cast<float>(x) + (mode.find("half_pixel") != std::string_view::npos ? 0.5F : 0.0F);
  const float start = mode.ends_with("half_pixel") ? 0.5F : 0.0F;
  const auto size = static_cast<float>(in), resized = static_cast<float>(out);
  const float factors[] = {at / (resized / size), at * (size / resized), at * (1.0F / (resized / size)),
                           at * size / resized};
  std::pair<double, double> ends(exact, exact);
  for (const float place : factors) {
    ends.first = std::min(ends.first, static_cast<double>(place - start));
    ends.second = std::max(ends.second, static_cast<double>(place - start));
  }
  return ends;
}

int64_t nearest_element(std::string_view mode, double place, const ResampledAxis& axis) {
  const double low = std::floor(place);
  const double rest = place - low;
  bool goes_up = false;
  if (mode == "round_prefer_floor") goes_up = rest > 0.5;
  if (mode == "round_prefer_ceil") goes_up = rest >= 0.5;
  if (mode == "ceil") goes_up = rest > 0;
  const double chosen = goes_up ? low + 1 : low;
  const auto last = static_cast<double>(axis.in - 1);
  return static_cast<int64_t>(std::isnan(chosen) ? 0 : std::clamp(chosen, 0.0, std::max(last, 0.0)));
}

Taps taps_at(const Filter& filter, double place, const ResampledAxis& axis) {
  const double radius = filter.is_cubic ? 2 : 1;
  const double stretch = filter.is_antialiased ? std::min(axis.scale, 1.0) : 1;
  const double bound = static_cast<double>(std::numeric_limits<int32_t>::max());
  const double low = std::floor(std::isnan(place) ? 0 : std::clamp(place, -bound, bound));
  const double rest = std::isnan(place) ? place : place - low;
  const auto begin = static_cast<int64_t>(std::floor(-radius / stretch)) + 1;
  Taps taps{static_cast<int64_t>(low) + begin, {}};
  for (int64_t i = begin; i < 2 - begin; ++i) {
    const double distance = (static_cast<double>(i) - rest) * stretch;
    taps.weights.push_back(filter.is_cubic ? cubic_weight(distance, filter.cubic_coefficient)
                                           : linear_weight(distance));
  }
  if (filter.is_antialiased) divide_by_sum(taps.weights);
  if (!filter.excludes_outside) return taps;
  for (size_t i = 0; i < taps.weights.size(); ++i) {
    const int64_t element = taps.first + static_cast<int64_t>(i);
    if (element < 0 || element >= axis.in) taps.weights[i] = 0;
  }
  divide_by_sum(taps.weights);
  return taps;
}

}  // namespace assay::ops
