#pragma once

#include <string>

#include "results/capability.h"

namespace assay::report {

// A table of the nodes that are refused, and why.
std::string refused_nodes_text(const results::CapabilityReport& report);
// A summary by operators and reasons, with the ranges of nodes, as the peer has it. The ends of ranges are exclusive.
std::string capability_summary_text(const results::CapabilityReport& report);

}  // namespace assay::report
