#include "cli/edit/attribute_words.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "base/trim.h"
#include "cli/edit/constant_words.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

using Scalar = std::variant<int64_t, float, std::string>;

template <typename Number>
std::optional<Number> read_number(std::string_view option, std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  Number number = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, number);
  if (text.empty() || result.ptr != end || result.ec == std::errc::invalid_argument) return std::nullopt;
  if (result.ec == std::errc()) return number;
  fail(ErrorCode::usage, "{}: `{}` is beyond the range of an attribute", option, printable(text));
}

bool is_quote(char letter) { return letter == '\'' || letter == '"'; }

bool is_quoted(std::string_view text) {
  return text.size() >= 2 && is_quote(text[0]) && text.find(text[0], 1) == text.size() - 1;
}

std::string_view unquoted(std::string_view text) { return is_quoted(text) ? text.substr(1, text.size() - 2) : text; }

// Text without quotes that begins like a list, a tuple, quoted text or a number is one of these with a mistake.
[[noreturn]] void fail_malformed(std::string_view option, std::string_view text, std::string_view what) {
  fail(ErrorCode::usage, "{}: `{}` {}; text of this kind needs quotes", option, printable(text), what);
}

void check_plain_text(std::string_view option, std::string_view text, PlainText meaning) {
  if (text.empty()) return;
  if (text[0] == '[') {
    fail_malformed(option, text, text.back() == ']' ? "is a list within a list" : "is a list without `]`");
  }
  if (text[0] == '(') fail_malformed(option, text, "is not a list, which is written [ITEM,...]");
  if (is_quote(text[0])) fail_malformed(option, text, "begins with a quote that is not closed at its end");
  if (meaning == PlainText::text && begins_like_number(text))
    fail_malformed(option, text, "begins like a number and is not one");
}

Scalar parse_scalar(std::string_view option, std::string_view text, PlainText meaning) {
  if (const std::optional<int64_t> number = read_number<int64_t>(option, text)) return *number;
  if (const std::optional<float> number = read_number<float>(option, text)) return *number;
  if (is_quoted(text)) return std::string(unquoted(text));
  check_plain_text(option, text, meaning);
  return std::string(text);
}

// True if a constant is a number, or a word for one, and so no file.
bool is_number_or_word(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const bool has_sign = text.size() > 1 && text.starts_with('+');
  const std::from_chars_result result = std::from_chars(text.data() + (has_sign ? 1 : 0), end, number);
  return result.ptr == end || to_lower(text) == "true" || to_lower(text) == "false";
}

// The items between commas outside of quotes.
std::vector<std::string_view> split_items(std::string_view inner) {
  std::vector<std::string_view> items;
  size_t begin = 0;
  char quote = 0;
  for (size_t at = 0; at < inner.size(); ++at) {
    if (quote != 0) {
      if (inner[at] == quote) quote = 0;
    } else if (is_quote(inner[at])) {
      quote = inner[at];
    } else if (inner[at] == ',') {
      items.push_back(trimmed(inner.substr(begin, at - begin)));
      begin = at + 1;
    }
  }
  items.push_back(trimmed(inner.substr(begin)));
  return items;
}

float as_float(const Scalar& scalar) {
  const int64_t* const integer = std::get_if<int64_t>(&scalar);
  return integer ? static_cast<float>(*integer) : std::get<float>(scalar);
}

// Integers among floats become floats; text does not mix with numbers.
surgery::AttributeValue parse_list(std::string_view option, std::string_view inner, std::string_view word) {
  std::vector<Scalar> items;
  for (const std::string_view item : split_items(inner)) {
    if (item.empty()) fail(ErrorCode::usage, "{}: empty item in the list of `{}`", option, printable(word));
    items.push_back(parse_scalar(option, item, PlainText::text));
  }
  const auto count = [&]<typename T>(const T&) {
    return static_cast<size_t>(
        std::ranges::count_if(items, [](const Scalar& s) { return std::holds_alternative<T>(s); }));
  };
  const size_t texts = count(std::string());
  if (texts > 0 && texts < items.size()) {
    fail(ErrorCode::usage, "{}: the list in `{}` mixes text and numbers", option, printable(word));
  }
  if (texts > 0) {
    std::vector<std::string> list;
    for (Scalar& item : items) list.push_back(std::move(std::get<std::string>(item)));
    return list;
  }
  if (count(int64_t{}) == items.size()) {
    std::vector<int64_t> list;
    for (const Scalar& item : items) list.push_back(std::get<int64_t>(item));
    return list;
  }
  std::vector<float> list;
  for (const Scalar& item : items) list.push_back(as_float(item));
  return list;
}

struct NamedText {
  std::string name;
  std::string_view text;
};

NamedText split_name(std::string_view option, std::string_view word) {
  const size_t equals = word.rfind('=');
  if (equals == std::string_view::npos || equals == 0) {
    fail(ErrorCode::usage, "{}: expected NAME=VALUE, seen `{}`", option, printable(word));
  }
  return {std::string(word.substr(0, equals)), trimmed(word.substr(equals + 1), " ")};
}

}  // namespace

std::pair<std::string, surgery::GivenValue> parse_given(std::string_view option, std::string_view word,
                                                        PlainText meaning) {
  const NamedText item = split_name(option, word);
  surgery::GivenValue value;
  value.is_list = item.text.starts_with('[') && item.text.ends_with(']');
  const std::string_view inner = value.is_list ? trimmed(item.text.substr(1, item.text.size() - 2), " ") : item.text;
  std::vector<std::string_view> parts = value.is_list ? split_items(inner) : std::vector<std::string_view>{inner};
  if (value.is_list && inner.empty()) parts.clear();
  value.is_quoted = std::ranges::any_of(parts, is_quoted);
  if (item.text.empty() || std::ranges::any_of(parts, [](std::string_view part) { return part.empty(); })) {
    fail(ErrorCode::usage, "{}: expected NAME=VALUE, seen `{}`", option, printable(word));
  }
  const bool is_word = !value.is_list && !value.is_quoted;
  const bool may_be_file = meaning == PlainText::file && !is_number_or_word(inner);
  if (is_word && (may_be_file || inner.ends_with(".npy"))) {
    value.tensor = load_one(option, std::string(inner));
    return {item.name, std::move(value)};
  }
  for (const std::string_view part : parts) value.words.emplace_back(unquoted(part));
  return {item.name, std::move(value)};
}

surgery::NamedAttribute parse_attribute(std::string_view option, std::string_view word, PlainText meaning) {
  const NamedText item = split_name(option, word);
  const std::string_view text = item.text;
  surgery::NamedAttribute attribute{item.name, {}};
  if (!text.starts_with('[') || !text.ends_with(']')) {
    Scalar scalar = parse_scalar(option, text, meaning);
    std::visit([&](auto& value) { attribute.value = std::move(value); }, scalar);
    return attribute;
  }
  const std::string_view inner = trimmed(text.substr(1, text.size() - 2), " ");
  if (inner.empty()) fail(ErrorCode::usage, "{}: the empty list in `{}` has no type", option, printable(word));
  attribute.value = parse_list(option, inner, word);
  return attribute;
}

}  // namespace assay::cli
