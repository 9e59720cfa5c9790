#pragma once

#include <string>
#include <string_view>

namespace assay {

// The text as gzip packs it: `level` 1 is fast, 9 is small. Error (limit) for what does not fit.
std::string gzip(std::string_view text, int level);

}  // namespace assay
