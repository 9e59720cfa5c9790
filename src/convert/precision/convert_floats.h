#pragma once

#include "base/diagnostics.h"
#include "convert/precision/half_edit.h"
#include "ir/rewriter.h"

namespace assay::convert {

// Counts of a model's float32 values after a conversion.
struct HalfReport {
  bool changed = false;
  std::vector<Layer> layers;  // nodes that compute with them, in the order of the model
  std::map<ir::ValueId, HalfSurvey> weights;
  HalfEdits edits;
};

// Converts float32 values and weights to float16 or bfloat16 where the operators' schemas admit it, with Casts between
// what is converted and what is not; float64 stays. Each node is a step of the rewriter. Weights are converted when
// they are written or read. Calls of the model's own functions, sequences and optionals stay float32. A second
// conversion changes nothing. Error (usage) for names in the options that no node has, (unsupported) before operator
// set 6, whose Cast is another.
HalfReport convert_floats(ir::Model& model, ir::Rewriter& rewriter, const HalfOptions& options, Diagnostics& findings);
HalfReport convert_floats(ir::Model& model, const HalfOptions& options, Diagnostics& findings);
// The whole model in float16, its functions inlined; inputs and outputs stay.
void convert_to_float16(ir::Model& model, Diagnostics& findings);

}  // namespace assay::convert
