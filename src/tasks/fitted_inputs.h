#pragma once

#include "exec/data_source.h"
#include "tasks/observer.h"

namespace assay::tasks {

// The inputs of another source by the peer's rules: each input of the model takes the array of its name, otherwise one
// whose name is part of its own or has it as part, otherwise the one at its place, converted to the declared type, and
// permuted or reshaped to the declared dims. The observer is warned of each change, once.
exec::DataSourcePtr fitted_source(exec::DataSourcePtr source, exec::Signature signature, Observer& observer);

}  // namespace assay::tasks
