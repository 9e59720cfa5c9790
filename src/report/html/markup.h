#pragma once

#include <string>
#include <string_view>

namespace assay::report {

// A text on one line, safe between tags and in quoted attributes of HTML and XML.
std::string escaped(std::string_view text);
// The escaped text, cut to about `most` bytes of the original.
std::string escaped_start(std::string_view text, size_t most);

}  // namespace assay::report
