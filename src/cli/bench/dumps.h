#pragma once

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "tasks/bench.h"
#include "tasks/observer.h"

namespace assay::cli {

// Prints what built the plan, where that alone is asked for. True: nothing else is to be done.
bool print_plan_version(const tasks::BenchRequest& request, const Arguments& arguments, tasks::Observer& observer,
                        Log& log);

// Prints and writes what options ask for besides times: shapes of profiles, weights, values and memory.
void dump_outcome(const tasks::BenchRequest& request, const tasks::BenchOutcome& outcome, const Arguments& arguments,
                  tasks::Observer& observer, Environment& environment);

}  // namespace assay::cli
