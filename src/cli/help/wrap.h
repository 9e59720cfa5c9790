#pragma once

#include <string>
#include <string_view>

namespace assay::cli {

// `text` broken at blanks so that no line passes `width` columns; lines after the first start with `indent` blanks, and
// the first is taken to start there too. Empty lines between paragraphs stay; a word that is too long is not cut.
std::string wrap(std::string_view text, size_t indent, size_t width);

}  // namespace assay::cli
