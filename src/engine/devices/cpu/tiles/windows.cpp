#include "engine/devices/cpu/tiles/windows.h"

namespace assay::engine::cpu {

Windows::Windows(const ConvGeometry& geometry, int64_t bytes, std::byte padding)
    : g_(geometry),
      pixel_bytes_(geometry.channels * bytes),
      is_each_pixel_(g_.kernel_height * g_.kernel_width * g_.stride_y * g_.stride_x == 1 &&
                     g_.out_height == g_.height && g_.out_width == g_.width && g_.pad_top + g_.pad_left == 0),
      padding_(static_cast<size_t>(pixel_bytes_), padding) {}

template <typename Fn>
void Windows::for_each(const std::byte* pictures, const Pixels& pixels, Fn&& fn) const {
  const int64_t picture_bytes = g_.height * g_.width * pixel_bytes_;
  int64_t column = pixels.first % g_.out_width;
  int64_t line = pixels.first / g_.out_width % g_.out_height;
  int64_t image = pixels.first / g_.out_width / g_.out_height;
  for (int64_t i = 0; i < pixels.count; ++i) {
    fn(Place{pictures + image * picture_bytes, line * g_.stride_y - g_.pad_top, column * g_.stride_x - g_.pad_left});
    if (++column < g_.out_width) continue;
    column = 0;
    if (++line < g_.out_height) continue;
    line = 0;
    ++image;
  }
}

void Windows::find(const std::byte* pictures, const Pixels& pixels, const float** out) const {
  if (!is_each_pixel_) return for_each(pictures, pixels, [&](const Place& place) { out = add_window(place, out); });
  const std::byte* pixel = pictures + pixels.first * pixel_bytes_;
  for (int64_t i = 0; i < pixels.count; ++i, pixel += pixel_bytes_) out[i] = reinterpret_cast<const float*>(pixel);
}

// Returns the end of what it wrote.
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
