#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay::exec {

// A value that a run is asked for, and the bytes that it is expected to take.
struct Tap {
  std::string name;
  uint64_t bytes = 0;
};

// Which values are asked for together; every group is a run of its own.
using TapPlan = std::vector<std::vector<std::string>>;

// Groups in the order of `taps`, each within the budget as far as a single value allows it; 0: one group of all.
TapPlan plan_taps(const std::vector<Tap>& taps, uint64_t budget_bytes);

}  // namespace assay::exec
