#pragma once

#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/bench.h"

namespace assay::cli {

// Options of `bench`: how is measured, what is printed and saved, and what users of trtexec write besides.
OptionGroup bench_group();
OptionGroup bench_output_group();

// Files that values marked for debugging are written to.
std::vector<tasks::RawInput> saved_debug_values(const Arguments& arguments);
// The request that the options make. Error (usage) for contradictory ones.
tasks::BenchRequest bench_request(const Arguments& arguments);

}  // namespace assay::cli
