#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "convert/quantize/block_codes.h"
#include "convert/quantize/weight_options.h"
#include "ir/rewriter.h"

namespace assay::convert {

// A node with a weight.
struct WeightLayer : Layer {
  std::optional<WeightError> error;
};

struct WeightReport {
  bool changed = false;
  std::vector<WeightLayer> layers;  // in the order of the model
  uint64_t weights = 0;
  uint64_t bytes_before = 0;
  uint64_t bytes_after = 0;  // with scales and zero points
};

// Makes constant float32 weights small integers; the nodes go on computing with floats. Each is a step of the rewriter.
// A second time nothing is changed. Error (usage) for a name that no node has, (unsupported) for an operator set
// without the DequantizeLinear that is needed.
WeightReport compress_weights(ir::Model& model, ir::Rewriter& rewriter, const WeightOptions& options,
                              Diagnostics& findings);
WeightReport compress_weights(ir::Model& model, const WeightOptions& options, Diagnostics& findings);

}  // namespace assay::convert
