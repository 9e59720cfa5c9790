#pragma once

#include "ir/model.h"
#include "tensor/named.h"

namespace assay::inspect {

// Declares the model's inputs with the types and shapes of the given data, by name.
void fix_inputs(ir::Model& model, const tensor::NamedData& feeds);

}  // namespace assay::inspect
