#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::ops {

inline constexpr char32_t kMaxCodePoint = 0x10FFFF;
// Stands for a byte that is not part of well-formed UTF-8: kBadByte + byte.
inline constexpr char32_t kBadByte = 0x110000;

std::vector<char32_t> decode_utf8(std::string_view text);
void append_utf8(std::string& text, char32_t point);

// Simple case mappings of single code points, the same in every locale.
char32_t to_lower(char32_t point);
char32_t to_upper(char32_t point);
std::string to_lower(std::string_view text);
std::string to_upper(std::string_view text);

}  // namespace assay::ops
