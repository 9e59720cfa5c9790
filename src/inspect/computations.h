#pragma once

#include <map>
#include <string>

#include "compare/auto_tolerance.h"
#include "ir/model.h"
#include "tensor/named.h"

namespace assay::inspect {

// How the values of the main graph are computed from these inputs, by name: along the path with the longest sums. The
// declared types of the model's inputs are replaced by those of the data; bodies of If, Loop and Scan count as one
// rounding.
std::map<std::string, compare::Computation> computations(ir::Model& model, const tensor::NamedData& feeds);

}  // namespace assay::inspect
