#pragma once

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/run.h"

namespace assay::cli {

// Options for comparing two runs: the functions and their thresholds.
OptionGroup comparator_group();
OptionGroup functions_group();
// Every value is checked here. Fields that depend on the model (is_essential, wants_percentiles, computed_tolerance)
// stay empty. `notes` gets a line for each option of a function that is not selected.
compare::CompareOptions compare_options(const Arguments& arguments, std::vector<std::string>& notes);
// True if tolerances are computed (`--tolerance auto`).
bool wants_computed_tolerance(const Arguments& arguments);
// True if no tolerance and no function of comparison was chosen.
bool has_default_tolerance(const Arguments& arguments);
inline constexpr std::string_view kDefaultToleranceHint =
    "The tolerances are the default ones, 1e-05; `--tolerance auto` computes them from the model's arithmetic";

}  // namespace assay::cli
