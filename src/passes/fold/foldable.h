#pragma once

#include <vector>

#include "passes/pass.h"

namespace assay::passes {

// Nodes whose results are the same in every run, each behind those that it needs. Nodes below a foldable one are not
// listed: they are run with it. Why a node is not among them although all it reads is constant becomes a skip.
std::vector<ir::NodeId> foldable_nodes(PassRun& run);

}  // namespace assay::passes
