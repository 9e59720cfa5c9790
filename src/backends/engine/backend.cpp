#include "backends/engine/engine_backend.h"

namespace assay::exec {

Backends backends_engine_backend() {
  Backends backends;
  backends.push_back(backends::make_engine_backend(backends::find_devices));
  return backends;
}

}  // namespace assay::exec
