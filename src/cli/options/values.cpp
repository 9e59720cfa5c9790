#include "cli/options/values.h"

#include <cctype>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::cli {
namespace {

// Reads all of `text` as a number; a leading plus is allowed as in Python.
template <typename Number>
std::errc read_number(std::string_view text, Number& number) {
  const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data() + (has_plus ? 1 : 0), end, number);
  return result.ec == std::errc() && result.ptr != end ? std::errc::invalid_argument : result.ec;
}

}  // namespace

KeyValue split_key_value(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {"", std::string(text)};
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

int64_t parse_integer(std::string_view option, std::string_view text) {
  int64_t number = 0;
  const std::errc error = read_number(text, number);
  if (error == std::errc::result_out_of_range) {
    fail(ErrorCode::usage, "option `{}`: `{}` does not fit into 64 bits", option, text);
  }
  if (error != std::errc()) fail(ErrorCode::usage, "option `{}`: expected an integer, found `{}`", option, text);
  return number;
}

uint64_t parse_count(std::string_view option, std::string_view text, int64_t least) {
  const int64_t number = parse_integer(option, text);
  if (number < least) {
    fail(ErrorCode::usage, "option `{}`: expected a number of at least {}, found {}", option, least, number);
  }
  return static_cast<uint64_t>(number);
}

double parse_number(std::string_view option, std::string_view text) {
  double number = 0;
  const std::errc error = read_number(text, number);
  if (error == std::errc::result_out_of_range) {
    fail(ErrorCode::usage, "option `{}`: `{}` is beyond the range of a float64", option, text);
  }
  if (error != std::errc()) fail(ErrorCode::usage, "option `{}`: expected a number, found `{}`", option, text);
  return number;
}

double parse_tolerance(std::string_view option, std::string_view text) {
  const double number = parse_number(option, text);
  if (!(number >= 0)) fail(ErrorCode::usage, "option `{}`: expected a number of at least 0, found `{}`", option, text);
  return number;
}

void fail_choice(std::string_view option, std::string_view value, std::span<const std::string_view> choices) {
  const std::vector<std::string> words(choices.begin(), choices.end());
  const std::optional<std::string> near = did_you_mean(value, words);
  fail(ErrorCode::usage, "{}`{}`: unknown value `{}`; {}", option.starts_with('-') ? "option " : "", option, value,
       near ? fmt::format("did you mean `{}`?", *near) : fmt::format("expected one of {}", fmt::join(words, ", ")));
}

std::vector<std::string> spelled_out(const Spelling& spelling, std::string_view value) {
  std::vector<std::string> words;
  for (const std::string_view word : spelling.words) {
    std::string text(word);
    const size_t hole = text.find("{}");
    if (hole != std::string::npos) text.replace(hole, 2, value);
    words.push_back(std::move(text));
  }
  return words;
}

bool begins_like_number(std::string_view text) {
  const size_t first = text.find_first_not_of("+-.");
  return first <= 2 && first < text.size() && text[first] >= '0' && text[first] <= '9';
}

namespace {

exec::InputShape parse_shape_words(std::string_view option, std::string_view text, bool takes_names) {
  const KeyValue parts = split_key_value(text);
  const std::string_view list = parts.value;
  if (parts.key.empty() || list.size() < 2 || list.front() != '[' || list.back() != ']') {
    fail(ErrorCode::usage, "{}: expected NAME:[DIM,...], seen `{}`", option, printable(text));
  }
  exec::InputShape shape{parts.key, {}};
  const std::string_view inner = list.substr(1, list.size() - 2);
  if (inner.find_first_not_of(' ') == std::string_view::npos) return shape;
  for (const std::string_view word : split(inner, ',')) {
    const size_t begin = word.find_first_not_of(' ');
    const size_t end = word.find_last_not_of(' ');
    if (begin == std::string_view::npos) fail(ErrorCode::usage, "{}: empty dim in `{}`", option, printable(text));
    const std::string_view dim = word.substr(begin, end - begin + 1);
    const bool is_number = dim.find_first_not_of("+-0123456789") == std::string_view::npos;
    const bool is_name = !begins_like_number(dim) && dim.find_first_of("[](){}") == std::string_view::npos;
    if (!is_number && !(is_name && takes_names)) {
      fail(ErrorCode::usage, "{}: `{}` in `{}` is no dim; expected a number{}", option, printable(dim), printable(text),
           takes_names ? ", -1 or a name" : " or -1");
    }
    const int64_t number = is_number ? parse_integer(option, dim) : -1;
    if (number < -1) fail(ErrorCode::usage, "{}: negative dim {} in `{}`", option, number, printable(text));
    shape.dims.push_back(number);
  }
  return shape;
}

}  // namespace

exec::InputShape parse_input_shape(std::string_view option, std::string_view text) {
  return parse_shape_words(option, text, true);
}

exec::InputShape parse_profile_shape(std::string_view option, std::string_view text) {
  return parse_shape_words(option, text, false);
}

std::string input_shape_text(const exec::InputShape& shape) {
  return fmt::format("{}:[{}]", shape.pattern, fmt::join(shape.dims, ","));
}

uint64_t parse_size(std::string_view option, std::string_view text, uint64_t least) {
  constexpr std::string_view kUnits = "KMGT";
  std::string_view digits = text;
  if (!digits.empty() && (digits.back() == 'B' || digits.back() == 'b')) digits.remove_suffix(1);
  uint64_t scale = 1;
  if (!digits.empty()) {
    const size_t unit = kUnits.find(static_cast<char>(std::toupper(static_cast<unsigned char>(digits.back()))));
    if (unit != std::string_view::npos) {
      scale = uint64_t{1} << (10 * (unit + 1));
      digits.remove_suffix(1);
    }
  }
  const double number = parse_number(option, digits);
  const double bytes = number * static_cast<double>(scale);
  if (!(bytes >= static_cast<double>(least)) || bytes > 9e18) {
    fail(ErrorCode::usage, "{}: expected a size as 512M or 8G, seen `{}`", option, printable(text));
  }
  return static_cast<uint64_t>(bytes);
}

}  // namespace assay::cli
