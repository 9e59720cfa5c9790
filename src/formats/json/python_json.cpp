#include "formats/json/python_json.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/text.h"
#include "formats/json/code_points.h"

namespace assay::formats {
namespace {

constexpr size_t kIndent = 4;
constexpr uint64_t kBase64Chunk = 3 << 20;  // whole groups, large enough for several threads

void append_escaped(char32_t point, std::string& out) {
  static constexpr std::string_view kMeanings = "\"\\\b\f\n\r\t";
  static constexpr std::string_view kLetters = "\"\\bfnrt";
  const size_t known = point < 0x80 ? kMeanings.find(static_cast<char>(point)) : std::string_view::npos;
  if (known != std::string_view::npos) {
    out += {'\\', kLetters[known]};
  } else if (point >= 0x20 && point < 0x7F) {
    out += static_cast<char>(point);
  } else if (point < 0x10000) {
    out += fmt::format("\\u{:04x}", static_cast<uint32_t>(point));
  } else {
    const uint32_t rest = point - 0x10000;
    out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
  }
}

}  // namespace

std::string json_quoted(std::string_view text) {
  if (!is_utf8(text)) fail(ErrorCode::usage, "the name `{}` is not UTF-8, which JSON needs", printable(text));
  std::string out = "\"";
  for (const char32_t point : code_points(text)) append_escaped(point, out);
  return out + '"';
}

std::string json_number(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return python_float(number);
}

void PythonJson::break_line() { out_.write('\n' + std::string(kIndent * depth_, ' ')); }

void PythonJson::start_value() {
  if (!is_behind_key_ && depth_ > 0) {
    if (!is_empty_) out_.write(",");
    break_line();
  }
  is_empty_ = is_behind_key_ = false;
}

void PythonJson::value(std::string_view text) {
  start_value();
  out_.write(text);
}

void PythonJson::open(char bracket) {
  start_value();
  out_.write(std::string_view(&bracket, 1));
  ++depth_;
  is_empty_ = true;
}

void PythonJson::close(char bracket) {
  --depth_;
  if (!is_empty_) break_line();
  is_empty_ = false;
  out_.write(std::string_view(&bracket, 1));
}

void PythonJson::key(std::string_view name) {
  value(json_quoted(name));
  out_.write(": ");
  is_behind_key_ = true;
}

void PythonJson::integer(int64_t number) { value(fmt::format("{}", number)); }

void PythonJson::base64(Bytes first, Bytes second) {
  value("\"");
  // So many bytes of the second piece complete the last group of the first.
  const size_t joint = std::min<size_t>((3 - first.size() % 3) % 3, second.size());
  std::vector<std::byte> start(first.begin(), first.end());
  start.insert(start.end(), second.begin(), second.begin() + static_cast<ptrdiff_t>(joint));
  std::string text = base64_encode(start);
  out_.write(text);
  for (Bytes rest = second.subspan(joint); !rest.empty();) {
    const Bytes chunk = rest.first(std::min<uint64_t>(rest.size(), kBase64Chunk));
    base64_encode(chunk, text);
    out_.write(text);
    rest = rest.subspan(chunk.size());
  }
  out_.write("\"");
}

}  // namespace assay::formats
