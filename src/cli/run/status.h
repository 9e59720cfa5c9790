#pragma once

#include <string_view>

#include "base/error.h"
#include "results/comparison.h"

namespace assay::cli {

inline int status_of(results::Verdict verdict) {
  if (verdict == results::Verdict::equal) return kExitEqual;
  return verdict == results::Verdict::different ? kExitDifferent : kExitUndecided;
}

// The word that ends the output of a command.
inline std::string_view verdict_word(results::Verdict verdict) {
  if (verdict == results::Verdict::equal) return "PASSED";
  return verdict == results::Verdict::different ? "FAILED" : "UNDECIDED";
}

}  // namespace assay::cli
