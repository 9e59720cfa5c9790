#pragma once

#include <string>
#include <string_view>

#include "results/scene.h"

namespace assay::scene {

// Text that a page can show: UTF-8, and not too long.
std::string shown(std::string_view text);
// Adds it to a column.
void add_shown(results::TextColumn& column, std::string_view text);

}  // namespace assay::scene
