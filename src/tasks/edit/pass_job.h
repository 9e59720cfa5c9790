#pragma once

#include "tasks/edit/edit_job.h"

namespace assay::tasks {

// Runs the passes on the job's model and records what was done in the report, with a message for each round of folding
// and, if requested, each step. Returns the explanations of these steps.
std::vector<results::StepListing> run_passes(const PassRequest& request, EditJob& job);

}  // namespace assay::tasks
