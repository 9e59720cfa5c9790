#pragma once

#include "exec/runner.h"
#include "tasks/observer.h"

namespace assay::tasks {

// A runner whose values count as steps of the counter, which must outlive it.
exec::RunnerPtr counted_runner(exec::RunnerPtr runner, Counter& progress);

}  // namespace assay::tasks
