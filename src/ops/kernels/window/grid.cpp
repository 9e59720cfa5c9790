#include "ops/kernels/window/grid.h"

#include <algorithm>
#include <cmath>

#include "ops/kernels/window/resampling.h"

namespace assay::ops {
namespace {

struct Places : GridAxis {
  double low() const { return aligns_corners ? 0 : -0.5; }
  double high() const { return static_cast<double>(length) - (aligns_corners ? 1 : 0.5); }

  // From the grid's -1 to 1 to elements; what is no number lies far out.
  double place(double normalized) const {
    const auto size = static_cast<double>(length);
    const double at = aligns_corners ? (normalized + 1) / 2 * (size - 1) : ((normalized + 1) * size - 1) / 2;
    return std::isnan(at) ? -1e9 : std::clamp(at, -1e9, 1e9);
  }
  double reflected(double at) const {
    const double range = high() - low();
    if (range <= 0) return 0;
    const double beyond = at < low() ? low() - at : at - high();
    const double turns = std::floor(beyond / range);
    const double rest = beyond - turns * range;
    const bool from_same_side = std::fmod(turns, 2) == 0;
    return (at < low()) == from_same_side ? low() + rest : high() - rest;
  }
  // The place as the padding moves it before elements are chosen.
  double moved(double at) const {
    if (at >= low() && at <= high()) return at;
    if (padding == GridPadding::border)
      return std::clamp(at, 0.0, static_cast<double>(std::max<int64_t>(length - 1, 0)));
    return padding == GridPadding::reflection ? reflected(at) : at;
  }
  // The element that stands for index `i`; -1: a zero.
  int64_t element(double i) const {
    if (length == 0) return -1;
    const bool is_inside = i >= 0 && i < static_cast<double>(length);
    if (is_inside) return static_cast<int64_t>(i);
    if (padding == GridPadding::zeros) return -1;
    const double other = padding == GridPadding::reflection && (i < low() || i > high()) ? reflected(i) : i;
    return static_cast<int64_t>(std::clamp(other, 0.0, static_cast<double>(length - 1)));
  }
};

}  // namespace

// Version 16 has other words.
GridMode grid_mode(const Node& node) {
  const std::string_view word = node.string("mode");
  const bool is_old = node.version() < 20;
  if (word == "nearest") return GridMode::nearest;
  if (word == (is_old ? "bilinear" : "linear")) return GridMode::linear;
  if (word == (is_old ? "bicubic" : "cubic")) return GridMode::cubic;
  fail(ErrorCode::shape, "attribute `mode` is `{}`, expected nearest, {}linear or {}cubic", word, is_old ? "bi" : "",
       is_old ? "bi" : "");
}

GridPadding grid_padding(const Node& node) {
  const std::string_view word = node.string("padding_mode");
  if (word == "zeros") return GridPadding::zeros;
  if (word == "border") return GridPadding::border;
  if (word == "reflection") return GridPadding::reflection;
  fail(ErrorCode::shape, "attribute `padding_mode` is `{}`, expected zeros, border or reflection", word);
}

// Two weights of a linear filter are written out: they are wanted for every point.
GridPicks::GridPicks(GridMode mode, const GridAxis& given, double normalized) {
  const Places axis{given};
  const double at = axis.place(normalized);
  if (mode == GridMode::nearest) {
    count = 1;
    elements[0] = axis.element(axis.moved(std::nearbyint(at)));
    weights[0] = 1;
    return;
  }
  const double place = axis.moved(at);
  if (mode == GridMode::linear) {
    count = 2;
    const auto whole = static_cast<double>(static_cast<int64_t>(place));
    const double low = whole > place ? whole - 1 : whole;
    const double rest = place - low;
    for (int i = 0; i < 2; ++i) {
      elements[i] = axis.element(low + i);
      weights[i] = std::max(1 - std::abs(i - rest), 0.0);
    }
    return;
  }
  const Taps taps = taps_at({.is_cubic = true}, place, {});
  count = static_cast<int>(taps.weights.size());
  for (int i = 0; i < count; ++i) {
    elements[i] = axis.element(static_cast<double>(taps.first + i));
    weights[i] = taps.weights[static_cast<size_t>(i)];
  }
}

}  // namespace assay::ops
