#pragma once

#include "cli/progress.h"
#include "exec/runner.h"

namespace assay::cli {

// A runner whose values count as steps of `progress`, which must outlive it.
exec::RunnerPtr counted_runner(exec::RunnerPtr runner, Progress& progress);

}  // namespace assay::cli
