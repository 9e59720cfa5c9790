#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "ir/model.h"

namespace assay::match {

// By node: whether a pattern is, or matches, its name or that of one of its results. Error (usage) for a plain name
// that none of `nodes` has; a wildcard that fits nothing is a finding.
std::vector<bool> named_nodes(const ir::Model& model, const std::vector<ir::NodeId>& nodes,
                              const std::vector<std::string>& patterns, Diagnostics& findings);

}  // namespace assay::match
