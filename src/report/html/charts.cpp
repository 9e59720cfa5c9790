#include "report/html/charts.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/base64.h"
#include "picture/colour_map.h"
#include "picture/png.h"

namespace assay::report {

using picture::Colour;
using picture::HeatRange;
using picture::HeatScale;
namespace {

constexpr double kWidth = 320, kHeight = 120;  // of the field of bars
constexpr double kBelow = 18, kAbove = 14;

struct Bars {
  const results::Histogram* histogram;
  std::string_view style;
};

bool is_whole(const results::Histogram& histogram) {
  return !histogram.counts.empty() && histogram.edges.size() == histogram.counts.size() + 1;
}

// The common axis of some histograms.
struct Frame {
  double least = 0;
  double greatest = 0;
  uint64_t most = 1;

  explicit Frame(const std::vector<Bars>& series) {
    least = series.front().histogram->edges.front();
    greatest = series.front().histogram->edges.back();
    for (const Bars& bars : series) {
      least = std::min(least, bars.histogram->edges.front());
      greatest = std::max(greatest, bars.histogram->edges.back());
      most = std::max(most, *std::ranges::max_element(bars.histogram->counts));
    }
  }

  double x(double value) const {
    const double span = greatest / 2 - least / 2;  // the whole may be beyond a double
    return span > 0 ? std::clamp((value / 2 - least / 2) / span, 0.0, 1.0) * kWidth : 0;
  }
};

std::string bars_text(const Bars& bars, const Frame& frame) {
  const results::Histogram& histogram = *bars.histogram;
  std::string text;
  for (size_t i = 0; i < histogram.counts.size(); ++i) {
    if (histogram.counts[i] == 0) continue;
    const double left = frame.x(histogram.edges[i]);
    const double width = std::max(frame.x(histogram.edges[i + 1]) - left - 1, 1.0);
    const double share = static_cast<double>(histogram.counts[i]) / static_cast<double>(frame.most);
    const double height = std::max(share * kHeight, 1.0);
    text += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"1\">"
        "<title>[{:.4g}, {:.4g}]: {}</title></rect>",
        bars.style, left, kAbove + kHeight - height, width, height, histogram.edges[i], histogram.edges[i + 1],
        histogram.counts[i]);
  }
  return text;
}

std::string chart(const std::vector<Bars>& series) {
  const Frame frame(series);
  std::string text =
      fmt::format("<svg viewBox=\"-2 0 {:.0f} {:.0f}\" role=\"img\">", kWidth + 4, kAbove + kHeight + kBelow);
  text += fmt::format("<text x=\"0\" y=\"10\">{}</text>", frame.most);
  for (const Bars& bars : series) text += bars_text(bars, frame);
  const double ground = kAbove + kHeight;
  text += fmt::format(
      "<path class=\"axis\" d=\"M0 {0:.1f}H{1:.0f}\"/><text x=\"0\" y=\"{2:.0f}\">{3:.3g}</text>"
      "<text x=\"{1:.0f}\" y=\"{2:.0f}\" text-anchor=\"end\">{4:.3g}</text></svg>",
      ground + 0.5, kWidth, ground + 13, frame.least, frame.greatest);
  return text;
}

// The ramp of colours as CSS.
std::string gradient() {
  constexpr int kStops = 8;
  const std::vector<Colour> palette = picture::dark_palette();
  std::string text = "linear-gradient(90deg";
  for (int i = 0; i <= kStops; ++i) {
    const Colour& colour = palette[picture::colour_of(static_cast<double>(i) / kStops)];
    text += fmt::format(",#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
  }
  return text + ")";
}

std::string remarks(const HeatRange& range) {
  const std::vector<Colour> palette = picture::dark_palette();
  std::string text;
  const auto add = [&](uint8_t index, std::string_view word) {
    const Colour& colour = palette[index];
    text += fmt::format("<span><i class=\"key\" style=\"background:#{:02x}{:02x}{:02x}\"></i>{}</span>", colour.red,
                        colour.green, colour.blue, word);
  };
  if (range.has_nan) add(picture::kNaN, "NaN");
  if (range.has_infinity) add(picture::kInfinite, "infinite");
  return text;
}

}  // namespace

std::string histogram_figure(const results::TensorStats& a, const results::TensorStats& b) {
  std::vector<Bars> series;
  if (a.histogram && is_whole(*a.histogram)) series.push_back({&*a.histogram, "a"});
  if (b.histogram && is_whole(*b.histogram)) series.push_back({&*b.histogram, "b"});
  if (series.empty()) return {};
  return "<figure><figcaption>Values <i class=\"key a\"></i>first <i class=\"key b\"></i>reference</figcaption>" +
         chart(series) + "</figure>";
}

std::string histogram_figure(const results::TensorStats& differences, std::string_view caption) {
  return differences.histogram ? histogram_figure(*differences.histogram, caption) : "";
}

std::string histogram_figure(const results::Histogram& histogram, std::string_view caption) {
  if (!is_whole(histogram)) return {};
  return fmt::format("<figure><figcaption><i class=\"key d\"></i>{}</figcaption>", caption) +
         chart({{&histogram, "d"}}) + "</figure>";
}

std::string heat_figure(const results::HeatMap& map, HeatScale scale, std::string_view caption) {
  if (map.cells.empty()) return {};
  const HeatRange range = picture::heat_range(map, scale);
  return fmt::format(
      "<figure><figcaption>{0}</figcaption><img alt=\"{0}\" style=\"aspect-ratio:{1}/{2}\" "
      "src=\"data:image/png;base64,{3}\"><div class=\"scale\" style=\"background:{4}\"></div>"
      "<div class=\"ends\"><span>{5:.4g}</span>{6}<span>{7:.4g}</span></div></figure>\n",
      caption, std::min(map.columns, map.rows * 8), std::min(map.rows, map.columns),
      base64_encode(picture::png(picture::heat_map_image(map, scale))), gradient(), range.least, remarks(range),
      range.greatest);
}

}  // namespace assay::report
