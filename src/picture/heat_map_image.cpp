#include "picture/heat_map_image.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "picture/colour_map.h"
#include "picture/digit_font.h"

namespace assay::picture {
namespace {

using results::HeatMap;

// Cells to colours.
class Colouring {
 public:
  Colouring(const HeatRange& range, HeatScale scale)
      : is_logarithmic_(scale == HeatScale::logarithmic && range.least > 0 && range.least < range.greatest),
        least_(is_logarithmic_ ? std::log(range.least) : 0),
        greatest_(is_logarithmic_ ? std::log(range.greatest) : range.greatest) {}

  uint8_t colour(float cell) const {
    if (std::isnan(cell)) return kNaN;
    if (cell == HeatMap::kNoElement) return kBackground;
    if (std::isinf(cell)) return kInfinite;
    if (cell == 0 || greatest_ == least_) return colour_of(cell == 0 ? 0 : 1);
    const double value = is_logarithmic_ ? std::log(static_cast<double>(cell)) : static_cast<double>(cell);
    return colour_of((value - least_) / (greatest_ - least_));
  }

 private:
  bool is_logarithmic_;
  double least_;
  double greatest_;
};

// The width and height of a cell of a small map, in pixels.
int64_t enlargement(const HeatMap& map) {
  constexpr uint32_t kSmall = 480;
  return std::max<int64_t>(1, kSmall / std::max(map.rows, map.columns));
}

void draw_cells(Image& image, const HeatMap& map, const Colouring& colouring, int64_t size) {
  for (uint32_t row = 0; row < map.rows; ++row) {
    for (uint32_t column = 0; column < map.columns; ++column) {
      image.fill({column * size, row * size}, {size, size},
                 colouring.colour(map.cells[uint64_t{row} * map.columns + column]));
    }
  }
}

}  // namespace

HeatRange heat_range(const HeatMap& map, HeatScale scale) {
  HeatRange range;
  double least = std::numeric_limits<double>::infinity();
  for (const float cell : map.cells) {
    range.has_nan = range.has_nan || std::isnan(cell);
    range.has_infinity = range.has_infinity || std::isinf(cell);
    if (!std::isfinite(cell) || cell == HeatMap::kNoElement) continue;
    range.greatest = std::max<double>(range.greatest, cell);
    if (cell > 0) least = std::min<double>(least, cell);
  }
  if (scale == HeatScale::logarithmic && std::isfinite(least)) range.least = least;
  return range;
}

Image heat_map_image(const HeatMap& map, HeatScale scale) {
  Image image(map.columns, map.rows, dark_palette());
  draw_cells(image, map, Colouring(heat_range(map, scale), scale), 1);
  return image;
}

Image heat_map_picture(const HeatMap& map, HeatScale scale) {
  constexpr int64_t kMargin = 16, kBarHeight = 12, kText = 2, kLeastWidth = 360;
  const HeatRange range = heat_range(map, scale);
  const int64_t size = enlargement(map);
  const int64_t drawn_height = map.rows * size;
  const int64_t width = std::max<int64_t>(map.columns * size, kLeastWidth);
  const int64_t height = drawn_height + 3 * kMargin + kBarHeight + kGlyphHeight * kText;
  Image image(static_cast<uint32_t>(width), static_cast<uint32_t>(height), dark_palette());
  image.fill({0, 0}, {width, height}, kInk);
  draw_cells(image, map, Colouring(range, scale), size);
  for (int64_t x = 0; x < width - 2 * kMargin; ++x) {
    const double level = static_cast<double>(x) / static_cast<double>(width - 2 * kMargin - 1);
    image.fill({kMargin + x, drawn_height + kMargin}, {1, kBarHeight}, colour_of(level));
  }
  const int64_t line = drawn_height + 2 * kMargin + kBarHeight - kMargin / 2;
  const std::string greatest = fmt::format("{:.4g}", range.greatest);
  const Pen pen = {.colour = colour_of(1), .scale = kText};
  draw_text(image, {kMargin, line}, fmt::format("{:.4g}", range.least), pen);
  draw_text(image, {width - kMargin - text_width(greatest, kText), line}, greatest, pen);
  return image;
}

}  // namespace assay::picture
