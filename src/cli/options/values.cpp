#include "cli/options/values.h"

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

double parse_number(std::string_view option, std::string_view text) {
  double number = 0;
  const std::errc error = read_number(text, number);
  if (error == std::errc::result_out_of_range) {
    fail(ErrorCode::usage, "option `{}`: `{}` is beyond the range of a float64", option, text);
  }
  if (error != std::errc()) fail(ErrorCode::usage, "option `{}`: expected a number, found `{}`", option, text);
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

}  // namespace assay::cli
