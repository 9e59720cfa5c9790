#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay::exec {

// A value requested from a run, and its expected size in bytes.
struct Tap {
  std::string name;
  uint64_t bytes = 0;
};

// The values requested together; every group is a separate run.
using TapPlan = std::vector<std::vector<std::string>>;

// Groups in the order of `taps`, each within the budget as far as a single value allows it; 0: one group of all.
TapPlan plan_taps(const std::vector<Tap>& taps, uint64_t budget_bytes);

}  // namespace assay::exec
