#pragma once

#include <optional>

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "tasks/bench.h"

namespace assay::cli {

// `--sweep` and `--batches`: the measurement for several shapes. nullopt: neither was given.
std::optional<int> run_sweep(const tasks::BenchRequest& request, const Arguments& arguments, Environment& environment);

}  // namespace assay::cli
