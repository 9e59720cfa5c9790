#include "onnx/text_lexer.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace assay::onnx {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_identifier(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_identifier(char c) { return starts_identifier(c) || is_digit(c); }

// Whether a number that has no finite, or no other than a zero, double is large. The first digit that counts stands at
// 10^(its place before the point) times the exponent.
bool is_huge(std::string_view number) {
  const size_t exponent_at = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, exponent_at);
  const size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  const size_t point = std::min(digits.find('.'), digits.size());
  const std::string_view exponent = number.substr(std::min(exponent_at + 1, number.size()));
  const bool is_negative = exponent.starts_with('-');
  const std::string_view magnitude = exponent.substr(exponent.starts_with('+') || is_negative);
  int64_t power = 0;
  const auto [end, error] = std::from_chars(magnitude.data(), magnitude.data() + magnitude.size(), power);
  if (error == std::errc::result_out_of_range) power = std::numeric_limits<int64_t>::max() / 2;
  const auto place = static_cast<int64_t>(point) - static_cast<int64_t>(first);
  return place + (is_negative ? -power : power) > 0;
}

}  // namespace

bool is_float_word(std::string_view text) {
  if (text.size() != 3 && text.size() != 8) return false;
  const std::string word = to_lower(text);
  return word == "inf" || word == "nan" || word == "infinity";
}

bool is_identifier(std::string_view text) {
  return !text.empty() && starts_identifier(text[0]) && std::ranges::all_of(text, continues_identifier);
}

void TextLexer::skip_blanks_slowly() {
  while (at_ < text_.size()) {
    if (is_blank(text_[at_])) {
      ++at_;
    } else if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

bool TextLexer::at_end() {
  skip_blanks();
  return at_ == text_.size();
}

size_t TextLexer::offset() {
  skip_blanks();
  return at_;
}

void TextLexer::expect(char c) {
  if (!accept(c)) fail_expected(fmt::format("`{}`", c));
}

bool TextLexer::is_next(std::string_view words) {
  skip_blanks();
  return text_.substr(at_).starts_with(words);
}

void TextLexer::expect_arrow() {
  if (!is_next("=>")) fail_expected("`=>`");
  at_ += 2;
}

bool TextLexer::is_before(char c) {
  const size_t start = offset();
  at_ = identifier_end();
  const bool result = peek() == c;
  at_ = start;
  return result;
}

size_t TextLexer::identifier_end() const {
  size_t end = at_;
  if (end < text_.size() && starts_identifier(text_[end])) ++end;
  while (end > at_ && end < text_.size() && continues_identifier(text_[end])) ++end;
  return end;
}

std::string_view TextLexer::peek_identifier() {
  skip_blanks();
  return text_.substr(at_, identifier_end() - at_);
}

std::string_view TextLexer::identifier() {
  const std::string_view result = peek_identifier();
  at_ += result.size();
  return result;
}

std::string_view TextLexer::expect_identifier(std::string_view what) {
  const std::string_view result = identifier();
  if (result.empty()) fail_expected(what);
  return result;
}

bool TextLexer::at_name() { return peek() == '"' || starts_identifier(peek()); }

std::string_view TextLexer::expect_name(std::string_view what) {
  return peek() == '"' ? expect_quoted(what) : expect_identifier(what);
}

// A backslash stands before a character that is meant as it is; there are no other escapes.
std::string_view TextLexer::expect_quoted(std::string_view what) {
  if (peek() != '"') fail_expected(what);
  const size_t from = at_ + 1;
  bool is_escaped = false;
  size_t end = from;
  for (; end < text_.size() && text_[end] != '"'; ++end) {
    if (text_[end] != '\\') continue;
    is_escaped = true;
    ++end;
  }
  if (end >= text_.size()) fail_at(at_, "expected a `\"` that ends the text which begins here, found none");
  at_ = end + 1;
  if (!is_escaped) return text_.substr(from, end - from);
  unescaped_ = unescape(from, end);
  return unescaped_;
}

std::string TextLexer::unescape(size_t from, size_t to) const {
  std::string result;
  for (size_t i = from; i < to; ++i) result += text_[i] == '\\' ? text_[++i] : text_[i];
  return result;
}

size_t TextLexer::digits_end(size_t from) const {
  while (from < text_.size() && is_digit(text_[from])) ++from;
  return from;
}

// Behind the number at the cursor; the cursor where there is none.
size_t TextLexer::number_end() const {
  const std::string_view rest = text_.substr(at_);
  const size_t start = at_ + rest.starts_with('-');
  size_t end = digits_end(start);
  if (end == start) {
    while (end < text_.size() && continues_identifier(text_[end])) ++end;
    return is_float_word(text_.substr(start, end - start)) ? end : at_;
  }
  if (text_.substr(end).starts_with('.')) end = digits_end(end + 1);
  if (end == text_.size() || (text_[end] | 0x20) != 'e') return end;
  const size_t sign = end + 1;
  const size_t digits = sign + (sign < text_.size() && (text_[sign] == '+' || text_[sign] == '-'));
  return digits_end(digits) > digits ? digits_end(digits) : end;
}

bool TextLexer::at_number() {
  skip_blanks();
  return number_end() > at_;
}

Number TextLexer::expect_number(std::string_view what) {
  if (!at_number()) fail_expected(what);
  Number number{text_.substr(at_, number_end() - at_), at_};
  number.is_integer = number.text.find_first_not_of("-0123456789") == std::string_view::npos;
  at_ += number.text.size();
  return number;
}

template <typename T>
T TextLexer::to_integral(const Number& number, T low, T high) const {
  if (number.text == "-0") return 0;
  const char* const end = number.text.data() + number.text.size();
  T value = 0;
  const auto [stop, error] = std::from_chars(number.text.data(), end, value);
  const bool good = number.is_integer && error == std::errc() && stop == end && value >= low && value <= high;
  if (!good) fail_at(number.offset, fmt::format("expected an integer from {} to {}, found `{}`", low, high, number.text));
  return value;
}

int64_t TextLexer::to_integer(const Number& number) const { return to_integral<int64_t>(number, INT64_MIN, INT64_MAX); }

int64_t TextLexer::expect_integer(int64_t low, int64_t high) {
  return to_integral(expect_number("an integer"), low, high);
}

uint64_t TextLexer::expect_unsigned(uint64_t high) {
  return to_integral<uint64_t>(expect_number("an integer"), 0, high);
}

template <typename T>
T TextLexer::to_real(const Number& number) const {
  const bool is_negative = number.text.starts_with('-');
  const std::string_view text = number.text.substr(is_negative);
  T value = 0;
  if (!is_digit(text[0])) {
    value = (text[0] | 0x20) == 'i' ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::quiet_NaN();
  } else {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) value = is_huge(text) ? std::numeric_limits<T>::infinity() : T{0};
    if (std::isinf(value)) {
      fail_at(number.offset, fmt::format("expected a number of at most {}, found `{}`", std::numeric_limits<T>::max(),
                                         printable(number.text)));
    }
  }
  return std::copysign(value, is_negative ? T{-1} : T{1});
}

float TextLexer::to_float(const Number& number) const { return to_real<float>(number); }
double TextLexer::to_double(const Number& number) const { return to_real<double>(number); }

void TextLexer::enter() {
  if (++depth_ <= kMaxTextDepth) return;
  --depth_;
  fail_at(at_, fmt::format("it is nested more than {} deep", kMaxTextDepth));
}

// What stands at the cursor, for messages.
std::string TextLexer::found() const {
  constexpr size_t kMost = 40;
  if (at_ == text_.size()) return "the end of the text";
  size_t end = std::max({identifier_end(), number_end(), at_ + 1});
  if (text_[at_] == '"') {
    while (end < text_.size() && end < at_ + kMost && text_[end] != '"') ++end;
    end = std::min(end + 1, text_.size());
  }
  const std::string_view token = text_.substr(at_, end - at_);
  return fmt::format("`{}{}`", printable(token.substr(0, kMost)), token.size() > kMost ? "..." : "");
}

void TextLexer::fail_expected(std::string_view what) {
  skip_blanks();
  fail_at(at_, fmt::format("expected {}, found {}", what, found()));
}

// Columns count characters, so that bytes that continue one do not count.
void TextLexer::fail_at(size_t offset, std::string_view message) const {
  const std::string_view before = text_.substr(0, offset);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::string_view head = before.substr(before.rfind('\n') + 1);
  const auto column = std::ranges::count_if(head, [](char c) { return (c & 0xC0) != 0x80; }) + 1;
  fail(ErrorCode::parse, "line {}, column {}: {}", line, column, message);
}

}  // namespace assay::onnx
