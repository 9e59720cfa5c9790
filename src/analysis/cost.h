#pragma once

#include "ops/inference.h"
#include "results/cost.h"

namespace assay::analysis {

// Bytes of a value of that type; unknown where its sizes, or those of its elements, are.
ops::Dim type_bytes(const ops::Type& type);
// Bytes of a value as far as inference can tell.
ops::Dim value_bytes(const ir::Model& model, const ops::Inference& inference, ir::ValueId value);
results::Cost node_cost(const ir::Model& model, const ops::Inference& inference, ir::NodeId node);
// The sum over the main graph and all bodies, each body counted once.
results::Cost model_cost(const ir::Model& model, const ops::Inference& inference);

}  // namespace assay::analysis
