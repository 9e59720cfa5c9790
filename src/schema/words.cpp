#include "schema/words.h"

#include <algorithm>

namespace assay::schema {

std::string_view take_until(std::string_view& text, char separator) {
  const size_t length = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return taken;
}

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  size_t end = 0;
  for (int depth = 0; end < text.size() && (depth > 0 || text[end] != ' '); ++end) {
    if (text[end] == '(' || text[end] == '{') ++depth;
    if (text[end] == ')' || text[end] == '}') --depth;
  }
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

}  // namespace assay::schema
