#pragma once

#include <string_view>

#include "tasks/edit.h"

namespace assay::cli {

// `name`, `name:[1,-1,'batch']:float32`, each part after the name may be `auto` or omitted; split from the right,
// because names may contain colons. Error (usage) for anything else.
surgery::Boundary parse_input_boundary(std::string_view option, std::string_view word);
// `name`, `name:auto`, `name:float32`.
surgery::Boundary parse_output_boundary(std::string_view option, std::string_view word);

}  // namespace assay::cli
