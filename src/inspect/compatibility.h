#pragma once

#include "exec/backend.h"
#include "results/compatibility.h"

namespace assay::inspect {

// Which nodes of a model, bodies and functions included, a backend can run.
results::BackendCompatibility inspect_compatibility(const ir::Model& model, const exec::Backend& backend,
                                                    const exec::LibrarySearch& search);

}  // namespace assay::inspect
