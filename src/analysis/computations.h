#pragma once

#include <map>
#include <string>

#include "compare/auto_tolerance.h"
#include "ir/model.h"
#include "tensor/named.h"

namespace assay::analysis {

// How the values of the main graph are computed when these inputs are given, by name: over the path with the longest
// sums. Bodies of If, Loop and Scan count as one rounding.
std::map<std::string, compare::Computation> computations(const ir::Model& model, const tensor::NamedData& feeds);

}  // namespace assay::analysis
