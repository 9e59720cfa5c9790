#pragma once

#include "tasks/sweep/samples.h"

namespace assay::tasks {

// Runs a loader once, and keeps its samples in `data/` of the folder, a file for each shard.
void keep_samples(const SweepRequest& request, const results::SweepPlan* older, Observer& observer,
                  results::SweepPlan& plan);
std::unique_ptr<SampleReader> open_kept_samples(const std::filesystem::path& folder, const results::SweepPlan& plan);

}  // namespace assay::tasks
