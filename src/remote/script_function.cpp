#include "remote/script_function.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace assay::remote {
namespace {

bool is_name_letter(char letter) {
  const bool is_ascii_word = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                             (letter >= '0' && letter <= '9') || letter == '_';
  return is_ascii_word || static_cast<unsigned char>(letter) >= 0x80;
}

bool can_be_name(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') && std::ranges::all_of(text, is_name_letter);
}

}  // namespace

ScriptFunction parse_script_function(std::string_view text, std::string_view default_function) {
  const size_t colon = text.rfind(':');
  const bool is_named = colon != std::string_view::npos && can_be_name(text.substr(colon + 1));
  ScriptFunction script = {std::string(text.substr(0, is_named ? colon : text.size())),
                           std::string(is_named ? text.substr(colon + 1) : default_function)};
  if (!script.path.empty() && script.path.back() != ':') return script;
  fail(ErrorCode::usage, "`{}` is no script, expected FILE.py or FILE.py:FUNCTION", printable(text));
}

}  // namespace assay::remote
