#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "tasks/edit.h"

namespace assay::cli {

// The meaning of a value without quotes that is not a number; a file's name may begin like a number.
enum class PlainText { text, file };

// `name=value`, split at the last `=`. A value is an integer, a float, or text, quoted or not; in brackets a list of
// them, of one type. Error (usage) for anything else.
surgery::NamedAttribute parse_attribute(std::string_view option, std::string_view word,
                                        PlainText meaning = PlainText::text);

// The value of `name=value` as it is written, and the name; read in a type that is known later. Text without quotes
// that is no number is a file of one tensor if `meaning` says so or if its name ends as one.
std::pair<std::string, surgery::GivenValue> parse_given(std::string_view option, std::string_view word,
                                                        PlainText meaning);

}  // namespace assay::cli
