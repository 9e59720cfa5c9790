#pragma once

#include <string_view>

#include "tasks/edit.h"

namespace assay::cli {

// What a value without quotes that is no number is; a file's name may begin like a number.
enum class PlainText { text, file };

// `name=value`, split at the last `=`. A value is an integer, a float, or text, quoted or not; in brackets a list of
// them, of one type. Error (usage) for anything else.
surgery::NamedAttribute parse_attribute(std::string_view option, std::string_view word,
                                        PlainText meaning = PlainText::text);

}  // namespace assay::cli
