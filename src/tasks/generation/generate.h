#pragma once

#include "tasks/run.h"

namespace assay::tasks {

// Generates tokens on all sides of a request, and compares each step with the first side's.
RunOutcome generate(const RunRequest& request, Observer& observer);

}  // namespace assay::tasks
