#pragma once

#include <string>

#include "tasks/load.h"

namespace assay::cli {

struct Environment;

// The page of a report with the graph of its model before its foot: the page of `view`, with what the report says, in a
// frame of its own. `json` is the report, or empty if it says nothing of nodes. Models that cannot be shown, or have
// too many nodes for a report, leave the page as it is.
std::string with_graph(std::string html, const tasks::ModelSource& model, const std::string& json,
                       const Environment& environment);

}  // namespace assay::cli
