#include "ops/kernels/text/code_points.h"

#include <algorithm>

#include <locale.h>
#include <wctype.h>

namespace assay::ops {
namespace {

// The locale whose tables are those of Unicode; without it only ASCII has cases.
locale_t unicode_locale() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

bool is_continuation(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

// Bytes of the sequence that begins with this one; 0 if none does.
size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

// The code point at `at` and how many bytes it has; a byte that does not fit is taken alone.
std::pair<char32_t, size_t> decode_one(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const size_t length = sequence_length(lead);
  if (length == 1) return {lead, 1};
  char32_t point = length == 0 ? 0 : lead & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i) {
    if (!is_continuation(text, at + i)) return {kBadByte + lead, 1};
    point = point << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = point >= 0xD800 && point < 0xE000;
  if (length == 0 || point < kLeast[length] || point > kMaxCodePoint || is_surrogate) return {kBadByte + lead, 1};
  return {point, length};
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

template <typename Fn>
std::string map_points(std::string_view text, Fn fn) {
  std::string result;
  if (is_ascii(text)) {
    result = text;
    for (char& byte : result) byte = static_cast<char>(fn(static_cast<unsigned char>(byte)));
    return result;
  }
  for (const char32_t point : decode_utf8(text)) append_utf8(result, fn(point));
  return result;
}

}  // namespace

std::vector<char32_t> decode_utf8(std::string_view text) {
  std::vector<char32_t> points;
  for (size_t at = 0; at < text.size();) {
    const auto [point, length] = decode_one(text, at);
    points.push_back(point);
    at += length;
  }
  return points;
}

void append_utf8(std::string& text, char32_t point) {
  const auto add = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (point >= kBadByte) return add(point - kBadByte);
  if (point < 0x80) return add(point);
  if (point < 0x800) {
    add(0xC0 | point >> 6);
  } else {
    if (point < 0x10000) {
      add(0xE0 | point >> 12);
    } else {
      add(0xF0 | point >> 18);
      add(0x80 | (point >> 12 & 0x3F));
    }
    add(0x80 | (point >> 6 & 0x3F));
  }
  add(0x80 | (point & 0x3F));
}

char32_t to_lower(char32_t point) {
  if (point < 0x80) return point >= 'A' && point <= 'Z' ? point + 32 : point;
  if (point >= kBadByte || !unicode_locale()) return point;
  return static_cast<char32_t>(towlower_l(static_cast<wint_t>(point), unicode_locale()));
}

char32_t to_upper(char32_t point) {
  if (point < 0x80) return point >= 'a' && point <= 'z' ? point - 32 : point;
  if (point >= kBadByte || !unicode_locale()) return point;
  return static_cast<char32_t>(towupper_l(static_cast<wint_t>(point), unicode_locale()));
}

std::string to_lower(std::string_view text) {
  return map_points(text, [](char32_t point) { return to_lower(point); });
}

std::string to_upper(std::string_view text) {
  return map_points(text, [](char32_t point) { return to_upper(point); });
}

}  // namespace assay::ops
