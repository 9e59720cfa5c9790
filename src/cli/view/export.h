#pragma once

#include <string>

#include "tasks/view.h"

namespace assay::cli {

// The content of one view as a file that works offline; facts of nodes, and statistics of weights, as far as there is
// room.
std::string view_page(const tasks::View& view, const std::string& command_line);

}  // namespace assay::cli
