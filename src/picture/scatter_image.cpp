#include "picture/scatter_image.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "picture/colour_map.h"
#include "picture/digit_font.h"

namespace assay::picture {
namespace {

using results::AxisRange;

constexpr int64_t kLeft = 130, kTop = 48, kRight = 30, kBottom = 62;
constexpr int64_t kTick = 6, kText = 2;
constexpr int64_t kTextHeight = kGlyphHeight * kText;

struct Tick {
  double place;  // from 0 to 1 along the axis
  std::string label;
};

// At 1, 2 or 5 times a power of ten.
std::vector<Tick> linear_ticks(AxisRange range) {
  const double rough = (range.greatest - range.least) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= rough) step = factor * power;
  }
  std::vector<Tick> ticks;
  const double steps = std::floor(range.greatest / step + 1e-9);
  if (!(steps <= 10)) return ticks;  // numbers at the end of what a double can hold
  for (int i = 0; i <= static_cast<int>(steps); ++i) {
    ticks.push_back({i * (step / range.greatest), fmt::format("{:.4g}", i * step)});
  }
  return ticks;
}

std::vector<Tick> decade_ticks(AxisRange range) {
  constexpr int kMost = 8;
  const int least = static_cast<int>(std::lround(std::log10(range.least)));
  const int greatest = static_cast<int>(std::lround(std::log10(range.greatest)));
  const int step = std::max(1, (greatest - least + kMost - 1) / kMost);
  std::vector<Tick> ticks;
  for (int decade = least; decade <= greatest; decade += step) {
    ticks.push_back({static_cast<double>(decade - least) / (greatest - least), fmt::format("1e{}", decade)});
  }
  return ticks;
}

// One plot in a picture, `corner` being the upper left of its field.
class Plot {
 public:
  Plot(Image& image, Point corner, const results::Scatter& scatter)
      : image_(image), corner_(corner), width_(scatter.columns), height_(scatter.rows) {}

  void draw_axes(const std::vector<Tick>& across, const std::vector<Tick>& upwards, std::string_view title) {
    draw_text(image_, {corner_.x, corner_.y - kTextHeight - 10}, title, {.colour = kInk, .scale = kText});
    for (const Tick& tick : upwards) draw_upward_tick(tick);
    for (const Tick& tick : across) draw_across_tick(tick);
    image_.fill({corner_.x - 2, corner_.y}, {2, height_ + 2}, kInk);
    image_.fill({corner_.x - 2, corner_.y + height_}, {width_ + 2, 2}, kInk);
    const std::string_view below = "|reference|";
    draw_text(image_, {corner_.x + (width_ - text_width(below, kText)) / 2, corner_.y + height_ + 38}, below,
              {.colour = kInk, .scale = kText});
  }

  void draw_dots(const std::vector<uint32_t>& counts) {
    const uint32_t most = counts.empty() ? 0 : *std::ranges::max_element(counts);
    const double scale = 1 / std::log1p(most);
    const int64_t radius = dot_radius(counts);
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0) continue;
      const double level = std::log1p(counts[i]) * scale;
      draw_dot({static_cast<int64_t>(i) % width_, static_cast<int64_t>(i) / width_}, radius,
               colour_of(most == 1 ? 0.6 : 0.15 + 0.85 * level));
    }
  }

 private:
  // Few dots are drawn large enough to be seen.
  static int64_t dot_radius(const std::vector<uint32_t>& counts) {
    constexpr int64_t kFew = 2000, kSome = 20000;
    const int64_t dots = std::ranges::count_if(counts, [](uint32_t count) { return count > 0; });
    if (dots < kFew) return 2;
    return dots < kSome ? 1 : 0;
  }

  // The denser of two dots stays.
  void draw_dot(Point at, int64_t radius, uint8_t colour) {
    for (int64_t y = std::max<int64_t>(0, at.y - radius); y <= std::min(height_ - 1, at.y + radius); ++y) {
      for (int64_t x = std::max<int64_t>(0, at.x - radius); x <= std::min(width_ - 1, at.x + radius); ++x) {
        const Point place = {corner_.x + x, corner_.y + y};
        image_.set(place, std::max(image_.at(place), colour));
      }
    }
  }

  void draw_upward_tick(const Tick& tick) {
    const int64_t y = corner_.y + height_ - std::lround(tick.place * static_cast<double>(height_));
    image_.fill({corner_.x, y}, {width_, 1}, kFaint);
    image_.fill({corner_.x - 2 - kTick, y}, {kTick, 2}, kInk);
    draw_text(image_, {corner_.x - kTick - 8 - text_width(tick.label, kText), y - kTextHeight / 2}, tick.label,
              {.colour = kInk, .scale = kText});
  }

  void draw_across_tick(const Tick& tick) {
    const int64_t x = corner_.x + std::lround(tick.place * static_cast<double>(width_ - 1));
    image_.fill({x, corner_.y}, {1, height_}, kFaint);
    image_.fill({x, corner_.y + height_}, {2, kTick}, kInk);
    draw_text(image_, {x - text_width(tick.label, kText) / 2, corner_.y + height_ + kTick + 6}, tick.label,
              {.colour = kInk, .scale = kText});
  }

  Image& image_;
  Point corner_;
  int64_t width_;
  int64_t height_;
};

}  // namespace

Image scatter_image(const results::Scatter& scatter) {
  const int64_t plot_height = kTop + scatter.rows + kBottom;
  Image image(static_cast<uint32_t>(kLeft + scatter.columns + kRight), static_cast<uint32_t>(2 * plot_height),
              light_palette());
  const std::vector<Tick> across = linear_ticks(scatter.magnitude);
  Plot above(image, {kLeft, kTop}, scatter);
  above.draw_axes(across, linear_ticks(scatter.absolute.difference), "absolute difference");
  above.draw_dots(scatter.absolute.counts);
  Plot below(image, {kLeft, plot_height + kTop}, scatter);
  below.draw_axes(across, decade_ticks(scatter.relative.difference), "relative difference");
  below.draw_dots(scatter.relative.counts);
  return image;
}

}  // namespace assay::picture
