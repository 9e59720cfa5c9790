#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::formats {

// Appends a Unicode code point as UTF-8. Error (parse) for a surrogate or a number beyond Unicode.
void append_utf8(uint32_t code_point, std::string& out);
// The code points of UTF-8 text. Error (parse) where it is not valid.
std::u32string code_points(std::string_view text);

}  // namespace assay::formats
