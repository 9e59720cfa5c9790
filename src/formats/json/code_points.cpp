#include "formats/json/code_points.h"

#include "base/error.h"
#include "base/text.h"

namespace assay::formats {

void append_utf8(uint32_t code_point, std::string& out) {
  const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (is_surrogate || code_point > 0x10FFFF) fail(ErrorCode::parse, "U+{:04X} is not a character", code_point);
  const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  const auto follow = [&](uint32_t shift) { put(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) return put(code_point);
  if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    follow(6);
  } else {
    put(0xF0 | code_point >> 18);
    follow(12);
    follow(6);
  }
  follow(0);
}

std::u32string code_points(std::string_view text) {
  if (!is_utf8(text)) fail(ErrorCode::parse, "`{}` is not UTF-8", printable(text.substr(0, 40)));
  std::u32string points;
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<uint8_t>(text[at++]);
    size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0x80 ? 1 : 0;
    uint32_t point = more == 0 ? first : first & (0x3FU >> more);
    for (; more > 0; --more) point = point << 6 | (static_cast<uint8_t>(text[at++]) & 0x3FU);
    points.push_back(point);
  }
  return points;
}

}  // namespace assay::formats
