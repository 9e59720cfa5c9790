#pragma once

#include "convert/precision/half_options.h"
#include "convert/precision/half_plan.h"
#include "ir/edit.h"

namespace assay::convert {

struct HalfEdits {
  uint64_t casts_added = 0;
  uint64_t casts_removed = 0;
  uint64_t weights = 0;              // that became half
  uint64_t weight_bytes_before = 0;  // of them
  uint64_t weight_bytes_after = 0;
};

// True if the plan changes anything.
bool changes_model(const ir::Model& model, const HalfPlan& plan);

// Carries the plan out on the model that it was made for.
HalfEdits apply_half(ir::Model& model, ir::Edit& edit, const HalfOptions& options, const HalfPlan& plan);

}  // namespace assay::convert
