#pragma once

#include "backends/engine/plans.h"

namespace assay::backends {

// One context of each plan that its runs need. `plans` must outlive it.
std::unique_ptr<exec::Execution> make_engine_execution(Plans& plans, const exec::ExecutionOptions& options);

}  // namespace assay::backends
