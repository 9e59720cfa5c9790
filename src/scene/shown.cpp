#include "scene/shown.h"

#include "base/text.h"

namespace assay::scene {
namespace {

constexpr size_t kMostText = 1000;  // bytes of a name or a type

}  // namespace

std::string shown(std::string_view text) {
  if (text.size() > kMostText) {
    text = text.substr(0, kMostText);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.remove_suffix(1);
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0U) text.remove_suffix(1);
    return shown(text) + "…";
  }
  return is_utf8(text) ? std::string(text) : printable(text);
}

void add_shown(results::TextColumn& column, std::string_view text) {
  if (text.size() <= kMostText && is_utf8(text)) return column.add(text);
  column.add(shown(text));
}

}  // namespace assay::scene
