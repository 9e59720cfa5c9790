#pragma once

#include <string_view>

#include "base/log.h"
#include "results/comparison.h"

namespace assay::report {

// Names as they are printed.
struct RunnerNames {
  std::string a;
  std::string b;
};

// The block about one output of two runs, from `Comparing Output` to its verdict.
void print_output(const results::OutputComparison& output, const RunnerNames& runners, Log& log);
// The result of one function on one line; for `simple`, its last line.
void print_judgement(const results::Judgement& judgement, const std::string& name, Log& log);

}  // namespace assay::report
