#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

#include "base/check.h"

namespace assay::schema {

// Cuts the text behind its first `separator` and returns what was before it; all of the text if there is none.
std::string_view take_until(std::string_view& text, char separator);
// The next word, which ends at a blank outside of brackets; empty at the end of the text.
std::string_view take_word(std::string_view& text);
bool take_prefix(std::string_view& text, std::string_view prefix);
bool take_suffix(std::string_view& text, std::string_view suffix);

template <typename T>
T parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  ASSAY_CHECK(error == std::errc() && end == text.data() + text.size());
  return value;
}

}  // namespace assay::schema
