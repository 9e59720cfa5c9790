#pragma once

#include "ops/inference.h"
#include "surgery/extract.h"

namespace assay::surgery {

// What the model says of a value; invalid if it says nothing.
ir::TypeId known_type(ir::Model& model, ir::ValueId value);

// The type that a boundary says, completed by the known one. Error (usage) if both name different element types; shapes
// that differ are a finding, and the boundary's holds.
ir::TypeId boundary_type(ir::Model& model, const Boundary& boundary, ir::TypeId known, Diagnostics& findings);

// Gives the outputs of the main graph, where they were edited, the types and shapes that inference finds and the model
// does not say: readers of ONNX refuse outputs without them.
void complete_outputs(ir::Model& model);

// Forgets the shapes of all values that depend on one of these, whose types were loosened or changed, and infers them
// anew. Gives what contradicts itself then.
std::vector<ops::InferenceFinding> renew_shapes(ir::Model& model, std::vector<ir::ValueId> changed);

}  // namespace assay::surgery
