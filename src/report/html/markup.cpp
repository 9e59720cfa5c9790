#include "report/html/markup.h"

#include "base/text.h"

namespace assay::report {
namespace {

// U+FFFE and U+FFFF, which XML does not allow.
bool is_noncharacter(std::string_view text, size_t at) {
  const std::string_view three = text.substr(at, 3);
  return three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF";
}

// The last place at or before `most` where a character ends.
size_t character_end(std::string_view text, size_t most) {
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return most;
}

}  // namespace

std::string escaped(std::string_view text) {
  const std::string safe = printable(text);
  std::string result;
  result.reserve(safe.size());
  for (size_t i = 0; i < safe.size(); ++i) {
    switch (safe[i]) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        if (is_noncharacter(safe, i)) {
          result += "\xEF\xBF\xBD";
          i += 2;
        } else {
          result += safe[i];
        }
    }
  }
  return result;
}

std::string escaped_start(std::string_view text, size_t most) {
  if (text.size() <= most) return escaped(text);
  return escaped(text.substr(0, character_end(text, most))) + "…";
}

}  // namespace assay::report
