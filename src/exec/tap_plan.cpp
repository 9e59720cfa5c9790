#include "exec/tap_plan.h"

namespace assay::exec {

TapPlan plan_taps(const std::vector<Tap>& taps, uint64_t budget_bytes) {
  TapPlan plan(1);
  uint64_t taken = 0;
  for (const Tap& tap : taps) {
    const bool is_full = budget_bytes != 0 && (taken > budget_bytes || tap.bytes > budget_bytes - taken);
    if (is_full && !plan.back().empty()) {
      plan.emplace_back();
      taken = 0;
    }
    plan.back().push_back(tap.name);
    taken += tap.bytes;
  }
  return plan;
}

}  // namespace assay::exec
