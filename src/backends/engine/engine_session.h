#pragma once

#include "backends/engine/devices.h"
#include "exec/backend.h"

namespace assay::backends {

// The built-in engine with a model: planned for the shapes of its inputs when they are known, otherwise once for each
// set of shapes that runs bring.
std::unique_ptr<exec::Session> make_engine_session(const ir::Model& model, const exec::SessionOptions& options,
                                                   DevicesPtr devices, Diagnostics& findings);
// Opens a plan. A plan that was built for another machine is built anew, if its model still lies where it lay.
std::unique_ptr<exec::Session> open_engine_plan(const std::filesystem::path& plan, const exec::SessionOptions& options,
                                                const DeviceFinder& find_devices, Diagnostics& findings);

}  // namespace assay::backends
