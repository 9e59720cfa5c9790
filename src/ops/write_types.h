#pragma once

#include "ops/inference.h"

namespace assay::ops {

// Writes what inference found into the model that it looked at, as types of its values. Those of the model's inputs
// stay, and so do those of values in functions, which have another type in each call.
void write_types(const Inference& inference, ir::Model& model);
// Writes the type of one value.
void write_type(const Inference& inference, ir::Model& model, ir::ValueId value);
// A type as the model's values have it; invalid where the model has no words for it.
ir::TypeId to_model(const Type& type, ir::Model& model);

}  // namespace assay::ops
