#pragma once

#include <string>
#include <string_view>

namespace assay::cli {

// `text` broken at spaces so that no line exceeds `width` columns. Lines after the first start with `indent` spaces;
// the first is assumed to start there too. Empty lines between paragraphs are kept; words that are too long are not
// cut.
std::string wrap(std::string_view text, size_t indent, size_t width);

}  // namespace assay::cli
