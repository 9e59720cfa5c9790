#pragma once

#include "tasks/sweep.h"

namespace assay::tasks {

// The plan of a request: its models with their digests, its columns with the versions of their libraries, its shards.
// Error (backend): a side cannot be used here.
results::SweepPlan make_plan(const SweepRequest& request, Observer& observer);

}  // namespace assay::tasks
