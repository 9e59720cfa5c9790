#include "engine/devices/cpu/tiles/code_sums.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/tiles/code_lines.h"

namespace assay::engine::cpu {
namespace {

int32_t sum_of(const std::byte* codes, int64_t count, bool are_signed) {
  int64_t i = 0;
  int64_t sum = 0;
#if defined(__x86_64__)
  constexpr int64_t kAtOnce = 16;
  constexpr int64_t kFlip = 128;  // codes with a sign are so much more as those without
  const __m128i flip = _mm_set1_epi8(static_cast<char>(are_signed ? kFlip : 0));
  __m128i sums = _mm_setzero_si128();
  for (; i + kAtOnce <= count; i += kAtOnce) {
    const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + i));
    sums = _mm_add_epi64(sums, _mm_sad_epu8(_mm_xor_si128(all, flip), _mm_setzero_si128()));
  }
  sum = _mm_cvtsi128_si64(_mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums))) - (are_signed ? kFlip * i : 0);
#endif
  for (; i < count; ++i) {
    const auto code = static_cast<uint8_t>(codes[i]);
    sum += are_signed ? int64_t{static_cast<int8_t>(code)} : int64_t{code};
  }
  return static_cast<int32_t>(sum);
}

}  // namespace

void sum_rows(const CodeRowsGiven& rows, int32_t* out) {
  const auto zeros = static_cast<int32_t>(rows.depth * rows.zero);
  for_code_lines(rows.rows, rows.depth,
                 [&](int64_t i) { out[i] = sum_of(rows.codes + i * rows.row, rows.depth, rows.are_signed) - zeros; });
}

uint64_t WindowSums::workspace_bytes() const {
  const int64_t pixels = are_pixels() ? 0 : lines() * g_.width;
  return static_cast<uint64_t>((of_group() + pixels) * g_.groups) * sizeof(int32_t);
}

const int32_t* WindowSums::run(const std::byte* pictures, bool are_signed, int32_t zero, std::byte* workspace) const {
  auto* const sums = reinterpret_cast<int32_t*>(workspace);
  const int64_t depth = g_.channels / g_.groups;
  if (!are_pixels()) {
    int32_t* const pixels = sums + of_group() * g_.groups;
    sum_pixels(pictures, are_signed, zero, pixels);
    const int64_t work = g_.out_width * g_.kernel_height * g_.kernel_width;
    for_code_lines(g_.groups * g_.batch * g_.out_height, work,
                   [&](int64_t i) { add_line(pixels, i, sums + i * g_.out_width); });
    return sums;
  }
  for_code_lines(of_group(), g_.channels, [&](int64_t i) {
    const int64_t y = i / g_.out_width % g_.out_height * g_.stride_y - g_.pad_top;
    const int64_t x = i % g_.out_width * g_.stride_x - g_.pad_left;
    const bool is_inside = y >= 0 && y < g_.height && x >= 0 && x < g_.width;
    const int64_t pixel = (i / g_.out_width / g_.out_height * g_.height + y) * g_.width + x;
    for (int64_t group = 0; group < g_.groups; ++group) {
      const int64_t first = pixel * g_.channels + group * depth;
      const int32_t sum = is_inside ? sum_of(pictures + first, depth, are_signed) : 0;
      sums[group * of_group() + i] = is_inside ? sum - static_cast<int32_t>(depth * zero) : 0;
    }
  });
  return sums;
}

// Sums the channels of each pixel of the pictures, by group.
void WindowSums::sum_pixels(const std::byte* pictures, bool are_signed, int32_t zero, int32_t* out) const {
  const int64_t depth = g_.channels / g_.groups;
  const int64_t of_group = lines() * g_.width;
  for_code_lines(lines(), g_.width * g_.channels, [&](int64_t line) {
    for (int64_t pixel = line * g_.width; pixel < (line + 1) * g_.width; ++pixel) {
      for (int64_t group = 0; group < g_.groups; ++group) {
        const std::byte* const codes = pictures + pixel * g_.channels + group * depth;
        out[group * of_group + pixel] = sum_of(codes, depth, are_signed) - static_cast<int32_t>(depth * zero);
      }
    }
  });
}

// A line of results, counted through images and groups.
void WindowSums::add_line(const int32_t* pixels, int64_t line, int32_t* out) const {
  std::fill_n(out, g_.out_width, 0);
  const int64_t top = line % g_.out_height * g_.stride_y - g_.pad_top;
  const int32_t* const picture = pixels + line / g_.out_height * g_.height * g_.width;
  for (int64_t i = 0; i < g_.kernel_height; ++i) {
    const int64_t y = top + i * g_.dilation_y;
    if (y < 0 || y >= g_.height) continue;
    for (int64_t k = 0; k < g_.kernel_width; ++k) {
      const int64_t left = k * g_.dilation_x - g_.pad_left;
      const int64_t begin = std::min(left < 0 ? parts_of(-left, g_.stride_x) : 0, g_.out_width);
      const int64_t end = left < g_.width ? std::min(parts_of(g_.width - left, g_.stride_x), g_.out_width) : begin;
      for (int64_t x = begin; x < end; ++x) out[x] += picture[y * g_.width + left + x * g_.stride_x];
    }
  }
}

}  // namespace assay::engine::cpu
