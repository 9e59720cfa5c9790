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
// Options of trtexec that have no effect here, without those that `others` have.
OptionGroup trtexec_group(const std::vector<OptionGroup>& others);

// The request that the options make. Error (usage) for contradictory ones.
tasks::BenchRequest bench_request(const Arguments& arguments);
// The names, as typed, of options that were accepted without effect.
std::vector<std::string> bench_options_without_effect(const Arguments& arguments);

}  // namespace assay::cli
