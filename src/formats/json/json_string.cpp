#include <charconv>

#include "base/error.h"
#include "base/text.h"
#include "formats/json/code_points.h"
#include "formats/json/json_reader.h"

namespace assay::formats {
namespace {

// Takes escapes, whose backslash is gone already, from the front of a text.
class Escapes {
 public:
  explicit Escapes(std::string_view& rest) : rest_(rest) {}

  void append_to(std::string& out) {
    static constexpr std::string_view kLetters = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (rest_.starts_with('u')) return append_utf8(code_point(), out);
    const size_t at = rest_.empty() ? std::string_view::npos : kLetters.find(rest_[0]);
    if (at == std::string_view::npos) {
      fail(ErrorCode::parse, "JSON: unknown escape `\\{}`", printable(rest_.substr(0, 1)));
    }
    out += kMeanings[at];
    rest_.remove_prefix(1);
  }

 private:
  // Two escapes stand for what is beyond 16 bits.
  uint32_t code_point() {
    const uint32_t first = unit();
    const bool is_high = first >= 0xD800 && first <= 0xDBFF;
    if (!is_high || !rest_.starts_with("\\u")) return first;
    rest_.remove_prefix(1);
    const uint32_t second = unit();
    if (second < 0xDC00 || second > 0xDFFF) return first;  // a number that no character has
    return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
  }
  uint32_t unit() {
    const std::string_view digits = rest_.substr(1, 4);
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() < 4 || error != std::errc() || end != digits.data() + 4) {
      fail(ErrorCode::parse, "JSON: `\\u{}`, expected four hexadecimal digits", printable(digits));
    }
    rest_.remove_prefix(5);
    return value;
  }

  std::string_view& rest_;
};

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20; }

}  // namespace

std::string JsonString::text() const {
  std::string out;
  for (std::string_view rest = raw; !rest.empty();) {
    const size_t plain = rest.find('\\');
    const std::string_view piece = rest.substr(0, plain);
    out += piece;
    rest.remove_prefix(piece.size());
    for (const char c : piece) {
      if (is_control(c)) fail(ErrorCode::parse, "JSON: a string with the control character 0x{:02x}", +c);
    }
    if (rest.empty()) break;
    rest.remove_prefix(1);
    Escapes(rest).append_to(out);
  }
  if (!is_utf8(out)) fail(ErrorCode::parse, "JSON: `{}` is not UTF-8", printable(out.substr(0, 40)));
  return out;
}

}  // namespace assay::formats
