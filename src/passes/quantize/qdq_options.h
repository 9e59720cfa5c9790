#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/ids.h"

namespace assay::passes {

// Which nodes are made to work on integers, and how. Names are those of nodes or of their results, and may have
// wildcards.
struct QdqOptions {
  bool asymmetric = false;  // activations as uint8 with a zero point, in the place of int8 around 0
  bool per_channel = true;  // a scale for each output channel of a weight
  std::vector<std::string> excluded;
  std::vector<std::string> excluded_ops;
  std::vector<std::string> only_ops;         // no others; empty: all that quantizable_ops() names
  std::map<ir::NodeId, std::string> costly;  // nodes that stay float, and why
};

}  // namespace assay::passes
