#include "sweep/signature.h"

#include <cctype>

#include "base/text.h"

namespace assay::sweep {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The end of a number that begins at `at`; `at` if none does.
size_t number_end(std::string_view line, size_t at) {
  if (!is_digit(line[at]) || (at > 0 && is_word(line[at - 1]))) return at;
  size_t end = at;
  while (end < line.size() &&
         (is_word(line[end]) || (line[end] == '.' && end + 1 < line.size() && is_digit(line[end + 1]))))
    ++end;
  return end;
}

}  // namespace

std::string signature(std::string_view line) {
  std::string text;
  for (size_t at = 0; at < line.size();) {
    const size_t closing = line[at] == '`' ? line.find('`', at + 1) : std::string_view::npos;
    if (closing != std::string_view::npos) {
      text += "`…`";
      at = closing + 1;
    } else if (const size_t end = number_end(line, at); end > at) {
      text += 'N';
      at = end;
    } else {
      text += line[at++];
    }
  }
  for (size_t at = text.find("N,N"); at != std::string::npos; at = text.find("N,N")) text.erase(at, 2);
  return text;
}

results::UnitStatus status_of(const Error& error) {
  using results::UnitStatus;
  const std::string line = to_lower(error.line());
  const auto has = [&](std::string_view words) { return line.find(words) != std::string::npos; };
  switch (error.code()) {
    case ErrorCode::usage:
    case ErrorCode::io:
    case ErrorCode::parse:
    case ErrorCode::shape:
      return UnitStatus::bad_input;
    case ErrorCode::cancelled:
      return UnitStatus::cancelled;
    case ErrorCode::limit:
      if (has("memory") || has("allocat") || has("too large")) return UnitStatus::memory;
      return has("answer") ? UnitStatus::timeout : UnitStatus::refused;
    default:
      break;
  }
  if (has("was killed by signal")) return UnitStatus::died;
  if (has("out of memory") || has("bad_alloc") || has("failed to allocate")) return UnitStatus::memory;
  return UnitStatus::refused;
}

}  // namespace assay::sweep
