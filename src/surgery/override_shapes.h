#pragma once

#include <span>

#include "base/diagnostics.h"
#include "surgery/extract.h"

namespace assay::surgery {

// Gives inputs the shapes that are said, and infers the shapes of all that depends on them anew; what is not named
// keeps its shape. A value that is computed becomes an input, which is a finding. Error (usage) for names that the
// model does not know and for values that are no tensors.
void override_shapes(ir::Model& model, std::span<const Boundary> shapes, Diagnostics& findings);

}  // namespace assay::surgery
