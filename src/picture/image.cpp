#include "picture/image.h"

#include <algorithm>

namespace assay::picture {

void Image::set(Point point, uint8_t colour) {
  if (point.x < 0 || point.y < 0 || point.x >= width_ || point.y >= height_) return;
  pixels_[static_cast<uint64_t>(point.y) * width_ + static_cast<uint64_t>(point.x)] = colour;
}

void Image::fill(Point corner, Point size, uint8_t colour) {
  for (int64_t y = corner.y; y < corner.y + size.y; ++y) {
    for (int64_t x = corner.x; x < corner.x + size.x; ++x) set({x, y}, colour);
  }
}

}  // namespace assay::picture
