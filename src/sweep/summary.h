#pragma once

#include <filesystem>

#include "sweep/journal.h"

namespace assay::sweep {

// The result of all units of a plan together. It depends on the records alone, not on who made them, nor in which
// order. `folder`: of the sweep, for the files of worst samples.
results::SweepReport summarize(const results::SweepPlan& plan, const Journal& journal,
                               const std::filesystem::path& folder);
// Adds what is another than in an older report.
void compare_with(const results::SweepReport& older, results::SweepReport& report);
results::SweepStatus status_of_sweep(const results::SweepPlan& plan, const Journal& journal,
                                     const std::filesystem::path& folder);

// Adds the difference of another shard.
void merge(const results::UnitDifference& more, results::UnitDifference& all);
// True if something could not be decided: not run yet, or ended by anything but a comparison.
bool is_undecided(results::UnitStatus status);

}  // namespace assay::sweep
