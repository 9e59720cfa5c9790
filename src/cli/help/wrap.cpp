#include "cli/help/wrap.h"

#include "base/text.h"

namespace assay::cli {
namespace {

std::string wrap_line(std::string_view text, size_t indent, size_t width) {
  std::string result;
  size_t column = indent;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    const bool starts = result.empty();
    if (!starts && column + 1 + word.size() > width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!starts) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

}  // namespace

std::string wrap(std::string_view text, size_t indent, size_t width) {
  std::string result;
  bool first = true;
  for (const std::string_view line : split(text, '\n')) {
    const std::string wrapped = wrap_line(line, indent, width);
    if (!first) result += '\n';
    if (!first && !wrapped.empty()) result.append(indent, ' ');
    result += wrapped;
    first = false;
  }
  return result;
}

}  // namespace assay::cli
