#include "engine/devices/cpu/tiles/code_rows.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/processor.h"
#include "engine/devices/cpu/tiles/code_lines.h"
#include "engine/devices/cpu/tiles/tile_kernels.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kWordCodes = 4;
constexpr uint64_t kSlack = 64;  // bytes behind a copy that a last word may read

template <typename T>
void widen(const std::byte* from, int64_t count, std::byte* to) {
  const auto* const codes = reinterpret_cast<const T*>(from);
  auto* const wide = reinterpret_cast<int16_t*>(to);
  for (int64_t i = 0; i < count; ++i) wide[i] = static_cast<int16_t>(int{codes[i]});
}

#if defined(__x86_64__)
template <typename T>
[[gnu::target("avx2")]] void widen_avx2(const std::byte* from, int64_t count, std::byte* to) {
  constexpr int64_t kAtOnce = 16;
  int64_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    const __m256i wide = std::is_signed_v<T> ? _mm256_cvtepi8_epi16(codes) : _mm256_cvtepu8_epi16(codes);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 2 * i), wide);
  }
  widen<T>(from + i, count - i, to + 2 * i);
}
#endif

// True if words would begin in the middle of others, or if steps would be too short.
bool is_copied(const CodeForm& form, const ConvGeometry& g) {
  constexpr int64_t kFewChannels = 16;
  const bool is_short = g.kernel_height * g.kernel_width > 1 && g.channels < kFewChannels;
  const bool is_joined =
      has_amx_int8() && g.kernel_height * g.kernel_width > 1;  // tiles read lines of windows in place
  return form.widens || is_short || is_joined || g.channels % kWordCodes != 0 ||
         g.channels / g.groups % kWordCodes != 0;
}

}  // namespace

CodeForm CodeForm::of(tensor::DType codes) {
  const bool are_signed = codes == tensor::DType::int8;
  return {code_kernels(are_signed).codes == 2, are_signed};
}

void CodeForm::copy(const std::byte* from, int64_t count, std::byte* to) const {
  if (!widens) {
    std::memcpy(to, from, static_cast<size_t>(count));
    return;
  }
#if defined(__x86_64__)
  if (has_avx2()) return are_signed ? widen_avx2<int8_t>(from, count, to) : widen_avx2<uint8_t>(from, count, to);
#endif
  are_signed ? widen<int8_t>(from, count, to) : widen<uint8_t>(from, count, to);
}

void CodeForm::fill(std::byte code, int64_t count, std::byte* to) const {
  if (!widens) {
    std::fill_n(to, count, code);
    return;
  }
  std::byte wide[2];
  copy(&code, 1, wide);
  for (int64_t i = 0; i < count; ++i, to += 2) std::memcpy(to, wide, 2);
}

CodeMatrix::CodeMatrix(const CodeForm& form, int64_t rows, int64_t depth, int64_t row)
    : form_(form), rows_(rows), depth_(depth), row_(row), copies_(form.widens || depth % kWordCodes != 0) {}

uint64_t CodeMatrix::workspace_bytes() const {
  return copies_ ? static_cast<uint64_t>(rows_ * row_bytes()) + kSlack : 0;
}

const std::byte* CodeMatrix::prepare(const std::byte* codes, std::byte* workspace, bool by_rows) const {
  if (!copies_) return codes;
  if (!by_rows) for_code_lines(rows_, depth_, [&](int64_t i) { prepare_rows(codes, i, 1, workspace); });
  return workspace;
}

void CodeMatrix::prepare_rows(const std::byte* codes, int64_t first, int64_t count, std::byte* workspace) const {
  for (int64_t i = first; i < first + count; ++i) form_.copy(codes + i * row_, depth_, workspace + i * row_bytes());
}

CodePictures::CodePictures(const CodeForm& form, const ConvGeometry& geometry, std::byte padding)
    : form_(form),
      g_(geometry),
      copies_(is_copied(form, geometry)),
      joined_(copies_ && geometry.dilation_x == 1 && geometry.groups == 1 ? geometry.kernel_width : 1),
      step_y_(geometry.kernel_height == 1 ? geometry.stride_y : 1),
      step_x_(geometry.kernel_width == 1 ? geometry.stride_x : 1),
      copy_(copied_geometry(geometry, joined_, {step_y_, step_x_})),
      windows_(copies_ ? copy_ : geometry, form.bytes(), padding),
      padding_(padding) {}

uint64_t CodePictures::workspace_bytes() const {
  if (!copies_) return 0;
  return static_cast<uint64_t>(g_.batch * copy_.height * copy_.width * g_.channels * form_.bytes()) + kSlack;
}

const std::byte* CodePictures::prepare(const std::byte* pictures, std::byte* workspace, bool by_pixels) const {
  if (!copies_) return pictures;
  if (by_pixels) return workspace;
  const Lane all{0, copy_.width};
  for_code_lines(g_.batch * copy_.height, copy_.width * g_.channels,
                 [&](int64_t line) { copy_line(pictures, line, all, workspace); });
  return workspace;
}

void CodePictures::prepare_pixels(const std::byte* pictures, const Windows::Pixels& pixels,
                                  std::byte* workspace) const {
  const int64_t end = pixels.first + pixels.count;
  for (int64_t pixel = pixels.first; pixel < end;) {
    const int64_t line = pixel / copy_.width;
    const Lane columns{pixel % copy_.width, std::min(copy_.width, end - line * copy_.width)};
    copy_line(pictures, line, columns, workspace);
    pixel += columns.end - columns.begin;
  }
}

// Some columns of a line of the copy, which is counted through all pictures.
void CodePictures::copy_line(const std::byte* pictures, int64_t line, const Lane& columns, std::byte* workspace) const {
  const int64_t pixel = g_.channels * form_.bytes();
  const int64_t y = line % copy_.height * step_y_ - g_.pad_top;
  // Columns of the copy that lie within the picture.
  const int64_t left = (g_.pad_left + step_x_ - 1) / step_x_;
  const int64_t right = (g_.width + g_.pad_left + step_x_ - 1) / step_x_;
  const int64_t begin = std::clamp<int64_t>(left, columns.begin, columns.end);
  const int64_t end = std::clamp<int64_t>(right, begin, columns.end);
  std::byte* const to = workspace + line * copy_.width * pixel;
  const auto pad = [&](int64_t from, int64_t until) {
    form_.fill(padding_, (until - from) * g_.channels, to + from * pixel);
  };
  if (y < 0 || y >= g_.height) return pad(columns.begin, columns.end);
  const std::byte* const picture = pictures + line / copy_.height * g_.height * g_.width * g_.channels;
  const std::byte* const from = picture + (y * g_.width + begin * step_x_ - g_.pad_left) * g_.channels;
  pad(columns.begin, begin);
  if (step_x_ == 1) form_.copy(from, (end - begin) * g_.channels, to + begin * pixel);
  for (int64_t x = begin; x < end && step_x_ > 1; ++x) {
    form_.copy(from + (x - begin) * step_x_ * g_.channels, g_.channels, to + x * pixel);
  }
  pad(end, columns.end);
}

}  // namespace assay::engine::cpu
