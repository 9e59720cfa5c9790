#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "convert/quantize/qdq_options.h"
#include "convert/quantize/quantizer.h"
#include "ir/model.h"

namespace assay::convert {

// A node's first result, and that of its double, by name; and the values whose ranges its operands have.
struct ShadowLayer {
  std::string result;
  std::string shadow;
  std::vector<std::string> ranges;
};

// Puts a double beside each node that insert_qdq would convert, on the same operands rounded to integers, so that one
// run shows what the rounding costs each layer alone. The rest of the model computes what it did. Errors: those of
// plan_qdq.
std::vector<ShadowLayer> add_shadow_layers(ir::Model& model, const QdqOptions& options, const calibrate::Ranges& ranges,
                                           Diagnostics& findings);

}  // namespace assay::convert
