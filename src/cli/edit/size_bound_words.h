#pragma once

#include <span>
#include <string>
#include <vector>

#include "tasks/edit.h"

namespace assay::cli {

// `[NAME:]N` each. Error (usage) for bounds below 0 and values that are not numbers.
std::vector<tasks::NamedSizeBound> parse_size_bounds(std::span<const std::string> words);

}  // namespace assay::cli
