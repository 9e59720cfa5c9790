#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/spec.h"
#include "tasks/inputs.h"

namespace assay::cli {

// The grammars of option values. `option` is the name in messages. Error (usage) for an invalid value.

// `[key:]value`, split at the last colon; the key is empty if there is none.
struct KeyValue {
  std::string key;
  std::string value;
};
KeyValue split_key_value(std::string_view text);

// A number of at least 0, also `inf`.
double parse_tolerance(std::string_view option, std::string_view text);
int64_t parse_integer(std::string_view option, std::string_view text);
uint64_t parse_count(std::string_view option, std::string_view text, int64_t least = 0);
// Also `inf` and `nan`, as Python's float() reads them.
double parse_number(std::string_view option, std::string_view text);

// True if the text begins with digits, after a sign or a point at most.
bool begins_like_number(std::string_view text);

// `name:[1,3,-1]`; a dim that is -1 or a word is taken from the model.
exec::InputShape parse_input_shape(std::string_view option, std::string_view text);
// One bound of a profile: the same, of numbers only.
exec::InputShape parse_profile_shape(std::string_view option, std::string_view text);
// The text of a shape without names of dims: `name:[1,3,-1]`.
std::string input_shape_text(const exec::InputShape& shape);
// Bytes: `1000`, `512K`, `1.5G` (binary units).
uint64_t parse_size(std::string_view option, std::string_view text, uint64_t least = 1);

[[noreturn]] void fail_choice(std::string_view option, std::string_view value,
                              std::span<const std::string_view> choices);

// The words that a spelling stands for, with `value` in place of `{}`.
std::vector<std::string> spelled_out(const Spelling& spelling, std::string_view value);

}  // namespace assay::cli
