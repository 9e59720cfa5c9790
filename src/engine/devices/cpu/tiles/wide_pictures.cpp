#include "engine/devices/cpu/tiles/wide_pictures.h"

#include <algorithm>
#include <cstring>

#include "engine/devices/cpu/tiles/code_lines.h"

namespace assay::engine::cpu {
namespace {

ConvGeometry wide_geometry(const ConvGeometry& g, int64_t channels, int64_t joined) {
  ConvGeometry copy = copied_geometry(g, joined);
  copy.channels = channels;
  return copy;
}

// Copies pixels of so many bytes to places of more, with zeros behind each.
void widen_pixels(const std::byte* from, int64_t count, int64_t pixel, int64_t wide, std::byte* to) {
  if (pixel == wide) {
    std::memcpy(to, from, static_cast<size_t>(count * pixel));
    return;
  }
  int64_t i = 0;
  if (wide == sizeof(uint64_t)) {  // all but the last may be read with what follows them
    const uint64_t kept = ~uint64_t{0} >> (8 * (wide - pixel));
    for (; i + 1 < count && (count - i) * pixel >= wide; ++i) {
      uint64_t numbers;
      std::memcpy(&numbers, from + i * pixel, sizeof numbers);
      numbers &= kept;
      std::memcpy(to + i * wide, &numbers, sizeof numbers);
    }
  }
  for (; i < count; ++i) {
    std::memcpy(to + i * wide, from + i * pixel, static_cast<size_t>(pixel));
    std::memset(to + i * wide + pixel, 0, static_cast<size_t>(wide - pixel));
  }
}

}  // namespace

WidePictures::WidePictures(const ConvGeometry& geometry, int64_t channels, int64_t bytes)
    : g_(geometry),
      channels_(channels),
      bytes_(bytes),
      joined_(geometry.dilation_x == 1 ? geometry.kernel_width : 1),
      copy_(wide_geometry(geometry, channels, joined_)) {}

Windows WidePictures::windows() const { return {copy_, bytes_, std::byte{0}}; }

uint64_t WidePictures::workspace_bytes() const {
  return static_cast<uint64_t>(g_.batch * copy_.height * copy_.width * channels_ * bytes_);
}

const std::byte* WidePictures::prepare(const std::byte* pictures, std::byte* workspace) const {
  for_code_lines(g_.batch * copy_.height, copy_.width * channels_,
                 [&](int64_t line) { copy_line(pictures, line, workspace); });
  return workspace;
}

// A line of the copy, which is counted through all pictures.
void WidePictures::copy_line(const std::byte* pictures, int64_t line, std::byte* workspace) const {
  const int64_t pixel = g_.channels * bytes_, wide = channels_ * bytes_;
  const int64_t y = line % copy_.height - g_.pad_top;
  std::byte* const to = workspace + line * copy_.width * wide;
  const bool is_line = y >= 0 && y < g_.height;
  const int64_t begin = std::clamp<int64_t>(g_.pad_left, 0, is_line ? copy_.width : 0);
  const int64_t end = std::clamp<int64_t>(g_.pad_left + g_.width, begin, is_line ? copy_.width : begin);
  std::memset(to, 0, static_cast<size_t>(begin * wide));
  std::memset(to + end * wide, 0, static_cast<size_t>((copy_.width - end) * wide));
  if (begin == end) return;
  const int64_t first = (line / copy_.height * g_.height + y) * g_.width + begin - g_.pad_left;
  widen_pixels(pictures + first * pixel, end - begin, pixel, wide, to + begin * wide);
}

}  // namespace assay::engine::cpu
