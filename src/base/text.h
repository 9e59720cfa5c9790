#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// The text with control characters and bytes that are not UTF-8 written as \xNN, so that it stays on one line.
std::string printable(std::string_view text);
bool is_utf8(std::string_view text);

std::string to_lower(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
// `text` with `blanks` blanks put after each line break.
std::string indent_continuation(std::string_view text, size_t blanks);

// Number of insertions, deletions, replacements and swaps of neighbours that turn a into b.
size_t edit_distance(std::string_view a, std::string_view b);
// The candidate nearest to `word` if it is near enough to be meant.
std::optional<std::string> did_you_mean(std::string_view word, std::span<const std::string> candidates);

// Shell wildcards: * ? [abc] [!abc]; the whole text must match.
bool matches_glob(std::string_view pattern, std::string_view text);

// Numbers and strings as Python's repr() prints them.
std::string python_float(double value);
std::string python_string(std::string_view text);

// "434 MB", "1.2 kB": three significant digits, decimal units.
std::string human_bytes(uint64_t bytes);

}  // namespace assay
