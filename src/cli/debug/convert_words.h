#pragma once

#include <string>
#include <vector>

namespace assay::cli {

// The words by which `convert` makes a model in another precision; `float16`, `bfloat16` or `int8`.
std::string convert_words(const std::string& model, const std::string& precision,
                          const std::vector<std::string>& excluded, const std::vector<std::string>& more = {});

}  // namespace assay::cli
