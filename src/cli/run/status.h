#pragma once

#include <string_view>

#include "base/error.h"
#include "results/run_report.h"

namespace assay::cli {

inline int status_of(results::Verdict verdict) {
  if (verdict == results::Verdict::equal) return kExitEqual;
  return verdict == results::Verdict::different ? kExitDifferent : kExitUndecided;
}

// The status of a run. If no backend could take the files or inputs, these are wrong.
inline int status_of(const results::RunReport& report) {
  uint64_t live = 0;
  uint64_t bad = 0;
  for (const results::RunnerRun& run : report.runs) {
    live += run.is_live ? 1 : 0;
    bad += run.is_input_bad ? 1 : 0;
  }
  const bool is_input_bad = live > 0 && live == bad && report.verdict == results::Verdict::undecided;
  return is_input_bad ? kExitUsage : status_of(report.verdict);
}

// The word that ends the output of a command.
inline std::string_view verdict_word(results::Verdict verdict) {
  if (verdict == results::Verdict::equal) return "PASSED";
  return verdict == results::Verdict::different ? "FAILED" : "UNDECIDED";
}

}  // namespace assay::cli
