#pragma once

#include "convert/quantize/qdq_plan.h"
#include "convert/quantize/quantizer.h"
#include "ir/edit.h"

namespace assay::convert {

struct QdqEdits {
  uint64_t activations = 0;
  uint64_t weights = 0;
  uint64_t weight_bytes_before = 0;
  uint64_t weight_bytes_after = 0;
};

// Carries the plan out on the model that it was made for. `ranges` has those that it needs.
QdqEdits apply_qdq(ir::Model& model, ir::Edit& edit, const QdqOptions& options, const QdqPlan& plan,
                   const calibrate::Ranges& ranges);

}  // namespace assay::convert
