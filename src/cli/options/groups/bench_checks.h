#pragma once

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/bench.h"

namespace assay::cli {

// Options of `bench` about outputs that should come, times of loading, and what is written besides.
OptionGroup bench_checks_group();
// Reads those that change the measurement. Error (usage) for references without a threshold.
void read_bench_checks(const Arguments& arguments, tasks::BenchRequest& request);
// `x:x.bin`, of an option with such words.
tasks::RawInput parse_raw_input(std::string_view option, std::string_view text);

}  // namespace assay::cli
