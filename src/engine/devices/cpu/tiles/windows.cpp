#include "engine/devices/cpu/tiles/windows.h"

#include <algorithm>

#include "engine/devices/cpu/parts.h"

namespace assay::engine::cpu {

ConvGeometry copied_geometry(const ConvGeometry& g, int64_t joined, const std::array<int64_t, 2>& steps) {
  ConvGeometry copy = g;
  copy.stride_y = g.stride_y / steps[0];
  copy.stride_x = g.stride_x / steps[1];
  copy.height = (g.out_height - 1) * copy.stride_y + (g.kernel_height - 1) * g.dilation_y + 1;
  copy.width = (g.out_width - 1) * copy.stride_x + (g.kernel_width - 1) * g.dilation_x + 1;
  copy.kernel_width = g.kernel_width / joined;
  copy.pad_top = copy.pad_left = copy.pad_bottom = copy.pad_right = 0;
  return copy;
}

Windows::Windows(const ConvGeometry& geometry, int64_t bytes, std::byte padding)
    : g_(geometry),
      pixel_bytes_(geometry.channels * bytes),
      is_each_pixel_(g_.kernel_height * g_.kernel_width * g_.stride_y * g_.stride_x == 1 &&
                     g_.out_height == g_.height && g_.out_width == g_.width && g_.pad_top + g_.pad_left == 0),
      padding_(static_cast<size_t>(pixel_bytes_), padding) {
  for (int64_t y = 0; y < g_.kernel_height; ++y) {
    for (int64_t x = 0; x < g_.kernel_width; ++x)
      offsets_.push_back((y * g_.dilation_y * g_.width + x * g_.dilation_x) * pixel_bytes_);
  }
}

void Windows::find(const std::byte* pictures, const Pixels& pixels, const float** out) const {
  if (is_each_pixel_) {
    const std::byte* pixel = pictures + pixels.first * pixel_bytes_;
    for (int64_t i = 0; i < pixels.count; ++i, pixel += pixel_bytes_) out[i] = reinterpret_cast<const float*>(pixel);
    return;
  }
  for (int64_t pixel = pixels.first; pixel < pixels.first + pixels.count;) {
    const int64_t column = pixel % g_.out_width;
    const int64_t line = pixel / g_.out_width % g_.out_height;
    const int64_t image = pixel / g_.out_width / g_.out_height;
    const int64_t count = std::min(g_.out_width - column, pixels.first + pixels.count - pixel);
    const Place place{pictures + image * g_.height * g_.width * pixel_bytes_, line * g_.stride_y - g_.pad_top,
                      column * g_.stride_x - g_.pad_left};
    out = add_windows(place, count, out);
    pixel += count;
  }
}

namespace {

struct Range {
  int64_t begin, end;
  bool is_all(int64_t count) const { return begin == 0 && end == count; }
};

// The range of places of a line or column of a window that are among those of a picture.
Range range_within(int64_t first, int64_t dilation, int64_t places, int64_t size) {
  const int64_t begin = std::min(parts_of(std::max<int64_t>(-first, 0), dilation), places);
  return {begin, std::clamp(parts_of(std::max<int64_t>(size - first, 0), dilation), begin, places)};
}

}  // namespace

uint64_t Windows::places_within(int64_t pixel) const {
  const int64_t left = pixel % g_.out_width * g_.stride_x - g_.pad_left;
  const int64_t top = pixel / g_.out_width % g_.out_height * g_.stride_y - g_.pad_top;
  Range lines = range_within(top, g_.dilation_y, g_.kernel_height, g_.height);
  Range columns = range_within(left, g_.dilation_x, g_.kernel_width, g_.width);
  if (!lines.is_all(g_.kernel_height) && !columns.is_all(g_.kernel_width)) {
    if ((lines.begin > 0) == (columns.begin > 0))
      columns = {0, g_.kernel_width};
    else
      lines = {0, g_.kernel_height};
  }
  uint64_t places = 0;
  for (int64_t y = lines.begin; y < lines.end; ++y) {
    for (int64_t x = columns.begin; x < columns.end; ++x) places |= uint64_t{1} << (y * g_.kernel_width + x);
  }
  return places;
}

// Adds windows that lie within the picture: their places are those of the first of them, so much further on.
const float** Windows::add_windows(const Place& place, int64_t count, const float** out) const {
  const bool are_lines = place.line >= 0 && place.line + (g_.kernel_height - 1) * g_.dilation_y < g_.height;
  const int64_t room = g_.width - (g_.kernel_width - 1) * g_.dilation_x - place.column;  // for where windows begin
  const int64_t begin = std::clamp<int64_t>(parts_of(-std::min<int64_t>(place.column, 0), g_.stride_x), 0, count);
  const int64_t end = are_lines ? std::clamp(parts_of(std::max<int64_t>(room, 0), g_.stride_x), begin, count) : begin;
  const auto at = [&](int64_t i) { return Place{place.picture, place.line, place.column + i * g_.stride_x}; };
  for (int64_t i = 0; i < begin; ++i) out = add_window(at(i), out);
  const std::byte* const from = place.picture + (place.line * g_.width + at(begin).column) * pixel_bytes_;
  if (end > begin && offsets_.size() == 9)
    out = add_whole<9>(from, end - begin, out);
  else if (end > begin && offsets_.size() == 7)
    out = add_whole<7>(from, end - begin, out);
  else if (end > begin)
    out = add_whole<0>(from, end - begin, out);
  for (int64_t i = end; i < count; ++i) out = add_window(at(i), out);
  return out;
}

// kPlaces: those of a window; 0: any.
template <size_t kPlaces>
const float** Windows::add_whole(const std::byte* from, int64_t count, const float** out) const {
  const size_t places = kPlaces == 0 ? offsets_.size() : kPlaces;
  const int64_t* const offsets = offsets_.data();
  for (int64_t i = 0; i < count; ++i, from += g_.stride_x * pixel_bytes_, out += places) {
#pragma GCC unroll 16
    for (size_t p = 0; p < places; ++p) out[p] = reinterpret_cast<const float*>(from + offsets[p]);
  }
  return out;
}

const float** Windows::add_window(const Place& place, const float** out) const {
  const auto* const padding = reinterpret_cast<const float*>(padding_.data());
  const int64_t top = place.line;
  const int64_t left = place.column;
  for (int64_t y = top; y < top + g_.kernel_height * g_.dilation_y; y += g_.dilation_y) {
    const bool is_line = y >= 0 && y < g_.height;
    const std::byte* const from = place.picture + y * g_.width * pixel_bytes_;
    for (int64_t x = left; x < left + g_.kernel_width * g_.dilation_x; x += g_.dilation_x) {
      const bool is_within = is_line && x >= 0 && x < g_.width;
      *out++ = is_within ? reinterpret_cast<const float*>(from + x * pixel_bytes_) : padding;
    }
  }
  return out;
}

}  // namespace assay::engine::cpu
