#pragma once

#include "backends/engine/devices.h"
#include "exec/backend.h"

namespace assay::backends {

// The engine on devices that `find_devices` gives each session.
exec::BackendPtr make_engine_backend(DeviceFinder find_devices);

}  // namespace assay::backends
