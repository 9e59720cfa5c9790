#include "onnx/printer/words.h"

#include <algorithm>

#include "base/text.h"
#include "onnx/parser/lexer.h"
#include "onnx/parser/types.h"

namespace assay::onnx {

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void append_word(std::string& out, std::string_view text) {
  if (is_identifier(text)) {
    out += text;
  } else {
    append_quoted(out, text);
  }
}

void append_dotted(std::string& out, std::string_view text) {
  if (std::ranges::all_of(split(text, '.'), is_identifier)) {
    out += text;
  } else {
    append_quoted(out, text);
  }
}

void append_name(std::string& out, std::string_view text) {
  if (is_identifier(text) && !is_float_word(text) && !is_type_word(text)) {
    out += text;
  } else {
    append_quoted(out, text);
  }
}

}  // namespace assay::onnx
