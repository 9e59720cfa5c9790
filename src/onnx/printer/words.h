#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace assay::onnx {

// Appends the text as it is if it is an identifier, in quotes otherwise.
void append_word(std::string& out, std::string_view text);
// Appends a word, but also in quotes if the identifier means something else: a type, or a number like `inf`.
void append_name(std::string& out, std::string_view text);
// Appends the text as it is if it is identifiers with points between them, in quotes otherwise.
void append_dotted(std::string& out, std::string_view text);
void append_quoted(std::string& out, std::string_view text);

// The shortest decimal that is read back as the same number; `nan` and `inf` with their signs.
template <typename T>
void append_number(std::string& out, T value) {
  if (value != value) {
    out += std::signbit(static_cast<double>(value)) ? "-nan" : "nan";
    return;
  }
  std::array<char, 32> digits;
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

// The items with `, ` between them.
template <typename Items, typename Fn>
void append_list(std::string& out, const Items& items, Fn&& append_item) {
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) out += ", ";
    is_first = false;
    append_item(item);
  }
}

}  // namespace assay::onnx
