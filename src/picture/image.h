#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace assay::picture {

struct Colour {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;

  bool operator==(const Colour&) const = default;
};

struct Point {
  int64_t x = 0;
  int64_t y = 0;
};

// A picture of at most 256 colours, at first all of the first one; what is drawn outside of it is cut off.
class Image {
 public:
  Image(uint32_t width, uint32_t height, std::vector<Colour> palette)
      : width_(width), height_(height), palette_(std::move(palette)), pixels_(uint64_t{width} * height) {}

  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }
  const std::vector<Colour>& palette() const { return palette_; }
  // Indices into the palette, row by row.
  const std::vector<uint8_t>& pixels() const { return pixels_; }

  // The point must be inside.
  uint8_t at(Point point) const {
    return pixels_[static_cast<uint64_t>(point.y) * width_ + static_cast<uint64_t>(point.x)];
  }
  void set(Point point, uint8_t colour);
  void fill(Point corner, Point size, uint8_t colour);

 private:
  uint32_t width_;
  uint32_t height_;
  std::vector<Colour> palette_;
  std::vector<uint8_t> pixels_;
};

}  // namespace assay::picture
