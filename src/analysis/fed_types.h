#pragma once

#include "ops/inference.h"
#include "tensor/named.h"

namespace assay::analysis {

// The types and shapes of the data that is given to the model's inputs by their names.
ops::InputTypes fed_types(const ir::Model& model, const tensor::NamedData& feeds);

}  // namespace assay::analysis
