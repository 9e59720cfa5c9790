#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "exec/tap_plan.h"
#include "ir/selection.h"

namespace assay::tasks {

// The values that live runs are asked for.
struct Taps {
  std::vector<ir::ValueId> values;
  std::vector<std::string> names;
  std::vector<std::string> beyond_outputs;     // values that are not outputs of the model
  std::set<std::string, std::less<>> exposed;  // inputs, and values not requested by name

  // True if a value must have a partner: all must, except those that only `mark all` exposes.
  bool is_essential(std::string_view name) const;
  // In groups that fit into the budget, by known sizes in bytes; 0: one group.
  exec::TapPlan plan(const std::map<std::string, uint64_t>& sizes, uint64_t budget_bytes) const;
};

Taps choose_taps(const ir::Model& model, const ir::OutputSelection& selection, Diagnostics& findings);

}  // namespace assay::tasks
