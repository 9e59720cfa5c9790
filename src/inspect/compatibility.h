#pragma once

#include "exec/backend.h"
#include "results/compatibility.h"

namespace assay::inspect {

// Finds the nodes of a model, bodies and functions included, that a backend can run. A library that stops at the first
// fault is asked again about the rest, until it finds none.
results::BackendCompatibility inspect_compatibility(const ir::Model& model, const exec::Backend& backend,
                                                    const exec::LibrarySearch& search);

}  // namespace assay::inspect
