#include "formats/json/json_reader.h"

#include <charconv>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace assay::formats {
namespace {

constexpr size_t kMaxDepth = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The end of the string that starts at `begin`: its closing quote, the first one that no odd number of backslashes
// precedes. npos if there is none.
size_t find_quote(std::string_view text, size_t begin) {
  for (size_t at = begin;; ++at) {
    const void* found = at < text.size() ? std::memchr(text.data() + at, '"', text.size() - at) : nullptr;
    if (found == nullptr) return std::string_view::npos;
    at = static_cast<size_t>(static_cast<const char*>(found) - text.data());
    size_t first = at;
    while (first > begin && text[first - 1] == '\\') --first;
    if ((at - first) % 2 == 0) return at;
  }
}

// The length of the number at the start of `text`, by JSON's grammar; 0 if there is none.
size_t number_length(std::string_view text) {
  size_t at = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - begin;
  };
  const bool starts_with_zero = at < text.size() && text[at] == '0';
  const size_t whole = digits();
  if (whole == 0 || (starts_with_zero && whole > 1)) return 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0) return 0;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return 0;
  }
  return at;
}

}  // namespace

std::string_view kind_name(JsonReader::Kind kind) {
  switch (kind) {
    case JsonReader::Kind::object:
      return "an object";
    case JsonReader::Kind::array:
      return "a list";
    case JsonReader::Kind::string:
      return "a string";
    case JsonReader::Kind::number:
      return "a number";
    case JsonReader::Kind::boolean:
      return "a boolean";
    case JsonReader::Kind::null:
      break;
  }
  return "null";
}

void JsonReader::fail_here(std::string_view what) const { fail(ErrorCode::parse, "JSON at byte {}: {}", at_, what); }

void JsonReader::skip_blanks() {
  while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) != nullptr && text_[at_] != '\0') ++at_;
}

JsonReader::Kind JsonReader::peek() {
  skip_blanks();
  if (at_ == text_.size()) fail_here("the file ends, expected a value");
  switch (text_[at_]) {
    case '{':
      return Kind::object;
    case '[':
      return Kind::array;
    case '"':
      return Kind::string;
    case 't':
    case 'f':
      return Kind::boolean;
    case 'n':
      return Kind::null;
    default:
      return Kind::number;
  }
}

void JsonReader::open(char bracket) {
  skip_blanks();
  if (at_ == text_.size() || text_[at_] != bracket) {
    fail_here(fmt::format("{}, expected `{}`", at_ == text_.size() ? "the file ends" : kind_name(peek()), bracket));
  }
  if (is_first_.size() == kMaxDepth) fail_here(fmt::format("nested deeper than {} levels", kMaxDepth));
  ++at_;
  is_first_.push_back(true);
}

bool JsonReader::next(char closing) {
  skip_blanks();
  if (at_ == text_.size()) fail_here(fmt::format("the file ends, expected `{}`", closing));
  if (text_[at_] == closing) {
    ++at_;
    is_first_.pop_back();
    return false;
  }
  if (!is_first_.back()) {
    if (text_[at_] != ',') fail_here(fmt::format("expected `,` or `{}`", closing));
    ++at_;
  }
  is_first_.back() = false;
  return true;
}

void JsonReader::begin_object() { open('{'); }
void JsonReader::begin_array() { open('['); }
bool JsonReader::next_item() { return next(']'); }

bool JsonReader::next_key(std::string& key) {
  if (!next('}')) return false;
  if (peek() != Kind::string) fail_here("expected a key in quotes");
  key = string().text();
  skip_blanks();
  if (at_ == text_.size() || text_[at_] != ':') fail_here("expected `:`");
  ++at_;
  return true;
}

JsonString JsonReader::string() {
  const Kind kind = peek();
  if (kind != Kind::string) fail_here(fmt::format("{}, expected a string", kind_name(kind)));
  const size_t begin = at_ + 1;
  const size_t end = find_quote(text_, begin);
  if (end == std::string_view::npos) fail_here("the file ends within a string");
  at_ = end + 1;
  return {text_.substr(begin, end - begin)};
}

bool JsonReader::accept_word(std::string_view word) {
  skip_blanks();
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

std::string_view JsonReader::number_text() {
  skip_blanks();
  const size_t length = number_length(text_.substr(at_));
  if (length == 0) fail_here("expected a value");
  at_ += length;
  return text_.substr(at_ - length, length);
}

double JsonReader::number() {
  if (accept_word("NaN")) return std::numeric_limits<double>::quiet_NaN();
  if (accept_word("Infinity")) return std::numeric_limits<double>::infinity();
  if (accept_word("-Infinity")) return -std::numeric_limits<double>::infinity();
  const std::string text(number_text());
  return std::strtod(text.c_str(), nullptr);
}

int64_t JsonReader::integer() {
  const std::string_view text = number_text();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail_here(fmt::format("the number {}, expected an integer of 64 bits", text.substr(0, 40)));
  }
  return value;
}

tensor::Shape JsonReader::dims() {
  tensor::Shape shape;
  begin_array();
  while (next_item()) {
    shape.push_back(integer());
    if (shape.back() < 0) fail_here(fmt::format("the dim {} is negative", shape.back()));
  }
  return shape;
}

bool JsonReader::boolean() {
  if (accept_word("true")) return true;
  if (!accept_word("false")) fail_here("expected true or false");
  return false;
}

void JsonReader::null() {
  if (!accept_word("null")) fail_here("expected null");
}

void JsonReader::skip() {
  std::string key;
  switch (peek()) {
    case Kind::object:
      begin_object();
      while (next_key(key)) skip();
      return;
    case Kind::array:
      begin_array();
      while (next_item()) skip();
      return;
    case Kind::string:
      string().text();
      return;
    case Kind::number:
      number();
      return;
    case Kind::boolean:
      boolean();
      return;
    case Kind::null:
      return null();
  }
}

std::string_view JsonReader::any() {
  skip_blanks();
  const size_t begin = at_;
  skip();
  return text_.substr(begin, at_ - begin);
}

void JsonReader::finish() {
  skip_blanks();
  if (at_ != text_.size()) fail_here("unexpected text after the value");
}

}  // namespace assay::formats
