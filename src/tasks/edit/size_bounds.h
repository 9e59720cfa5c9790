#pragma once

#include <span>

#include "tasks/edit/edit_job.h"

namespace assay::tasks {

// Finds the values and bounds them. A named value that needs no bound gets one, with a warning; unknown sizes without a
// bound are listed as skipped.
void bound_sizes(std::span<const NamedSizeBound> asked, EditJob& job);

}  // namespace assay::tasks
