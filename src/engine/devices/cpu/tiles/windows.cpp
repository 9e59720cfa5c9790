#include "engine/devices/cpu/tiles/windows.h"

#include <algorithm>
#include <cstring>

namespace assay::engine::cpu {
namespace {

constexpr int64_t kBlock = 32;  // bytes that are copied at once

// Up to kBlock bytes more than these, as far as there are any before `end`.
void copy_blocks(const std::byte* from, int64_t bytes, const std::byte* end, std::byte* to) {
  if (end - from < bytes + kBlock) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  for (int64_t i = 0; i < bytes; i += kBlock) std::memcpy(to + i, from + i, kBlock);
}

}  // namespace

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

void Windows::gather(const std::byte* pictures, const Pixels& pixels, std::byte* out, int64_t row) const {
  const std::byte* const end = pictures + g_.batch * g_.height * g_.width * pixel_bytes_;
  for_each(pictures, pixels, [&](const Place& place) {
    copy_window(place, end, out);
    out += row;
  });
}

// Line by line where windows lie within the picture.
void Windows::copy_window(const Place& place, const std::byte* end, std::byte* out) const {
  const int64_t left = place.column;
  const int64_t line_bytes = g_.kernel_width * pixel_bytes_;
  const bool is_within = g_.dilation_x == 1 && left >= 0 && left + g_.kernel_width <= g_.width;
  for (int64_t i = 0; i < g_.kernel_height; ++i, out += line_bytes) {
    const int64_t y = place.line + i * g_.dilation_y;
    const bool is_line = y >= 0 && y < g_.height;
    const std::byte* const from = place.picture + y * g_.width * pixel_bytes_;
    if (is_line && is_within) {
      copy_blocks(from + left * pixel_bytes_, line_bytes, end, out);
      continue;
    }
    for (int64_t k = 0; k < g_.kernel_width; ++k) {
      const int64_t x = left + k * g_.dilation_x;
      const bool is_pixel = is_line && x >= 0 && x < g_.width;
      std::memcpy(out + k * pixel_bytes_, is_pixel ? from + x * pixel_bytes_ : padding_.data(),
                  static_cast<size_t>(pixel_bytes_));
    }
  }
}

}  // namespace assay::engine::cpu
