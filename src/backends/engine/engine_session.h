#pragma once

#include "exec/backend.h"

namespace assay::backends {

// The built-in engine with a model: planned for the shapes of its inputs when they are known, otherwise once for each
// set of shapes that runs bring.
std::unique_ptr<exec::Session> make_engine_session(const ir::Model& model, const exec::SessionOptions& options,
                                                   Diagnostics& findings);

}  // namespace assay::backends
