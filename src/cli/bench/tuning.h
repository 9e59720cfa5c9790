#pragma once

#include <optional>

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/tune.h"

namespace assay::cli {

// Options of `bench` about choices that are tried.
OptionGroup tuning_group();
// Prints the choices that there are, if that is asked for.
bool print_build_route_help(const Arguments& arguments, Log& log);
// Sets the choices of --set-build-route.
void read_build_route(const Arguments& arguments, tasks::BenchRequest& request);
// Tries choices where options ask for that, and returns the exit status; nullopt: they do not.
std::optional<int> run_tuning(const tasks::BenchRequest& request, const Arguments& arguments, tasks::Observer& observer,
                              Environment& environment);
// Prints what came of a search; returns the exit status.
int print_tuning(const results::Tuning& tuning, Log& log);

}  // namespace assay::cli
