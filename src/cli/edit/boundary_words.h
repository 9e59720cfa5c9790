#pragma once

#include <string_view>

#include "tasks/edit.h"

namespace assay::cli {

// `name`, `name:[1,-1,'batch']:float32`, each part behind the name `auto` or left out; split from the right, as names
// may have colons. Error (usage) for words that say something else.
surgery::Boundary parse_input_boundary(std::string_view option, std::string_view word);
// `name`, `name:auto`, `name:float32`.
surgery::Boundary parse_output_boundary(std::string_view option, std::string_view word);

}  // namespace assay::cli
