#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "cli/options/spec.h"

namespace assay::cli {

// `-o, --output FILE`: the row as help shows it.
std::string row_label(const OptionRow& row);
// `assay inspect model [options] MODEL`.
std::string usage_line(const Command& command);
// Help, choices, default and details of a row as one paragraph.
std::string row_text(const OptionRow& row);

// The pages, wrapped to `width` columns.
std::string help_page(const Command& command, size_t width);
// The commands of a verb, or of the whole program if it is empty.
std::string help_list(std::string_view verb, size_t width);

// The width of the stream's terminal in columns; 100 if it has none.
size_t terminal_width(std::FILE* stream);

}  // namespace assay::cli
