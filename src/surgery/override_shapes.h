#pragma once

#include <span>

#include "base/diagnostics.h"
#include "surgery/extract.h"

namespace assay::surgery {

// Sets the shapes of inputs and infers the shapes of all dependent values again; other values keep their shapes. A
// computed value becomes an input, with a finding. Error (usage) for unknown names and for values that are not tensors.
void override_shapes(ir::Model& model, std::span<const Boundary> shapes, Diagnostics& findings);

}  // namespace assay::surgery
