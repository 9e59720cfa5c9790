#pragma once

#include "ops/live_inference.h"
#include "surgery/extract.h"

namespace assay::surgery {

// The type that the model declares for a value; invalid if none.
ir::TypeId known_type(ir::Model& model, ir::ValueId value);

// The type that a boundary gives, completed by the known one. Error (usage) if the element types differ; different
// shapes are a finding, and the boundary's shape is used.
ir::TypeId boundary_type(ir::Model& model, const Boundary& boundary, ir::TypeId known, Diagnostics& findings);

// Sets the missing types and shapes of edited outputs of the main graph from inference: readers of ONNX refuse outputs
// without them.
void complete_outputs(ir::Model& model);

// Drops the shapes of all values that depend on one of these, whose types were loosened or changed, and infers them
// again. Returns the contradictions found.
std::vector<ops::InferenceFinding> renew_shapes(ir::Model& model, std::vector<ir::ValueId> changed);
// Infers again in a model whose edits have been followed.
std::vector<ops::InferenceFinding> renew_shapes(ir::Model& model, ir::Edit& edit, ops::LiveInference& live,
                                                std::vector<ir::ValueId> changed);

}  // namespace assay::surgery
