#pragma once

#include <vector>

#include "ir/model.h"

namespace assay::convert {

// Values and uses that must be of one type because a node hands one on as the other.
struct TypeTie {
  struct Place {
    ir::NodeId user;  // the node itself, or the hidden last node of a body
    uint32_t index;
  };
  std::vector<ir::ValueId> values;  // results of the node, inputs of its bodies
  std::vector<Place> uses;
};

// Ties that If, Loop and Scan make, one for each value that they hand on. Empty if the counts of bodies and node do not
// fit; `version` is that of the operator set.
std::vector<TypeTie> control_flow_ties(const ir::Model& model, ir::NodeId node, int64_t version);

}  // namespace assay::convert
