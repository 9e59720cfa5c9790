#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "base/text.h"
#include "onnx/parser/lexer.h"

namespace assay::onnx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// True if a number beyond the range of double is too large, not too small. The place of its first digit that counts,
// seen from the point, and its exponent say that.
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
    end = word_end(start);
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
  if (!good)
    fail_at(number.offset, fmt::format("expected an integer from {} to {}, found `{}`", low, high, number.text));
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

}  // namespace assay::onnx
