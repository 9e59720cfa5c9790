#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "calibrate/moments.h"
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

// Second moments of values of the model as it was, by name.
using MomentsOf = std::function<std::map<std::string, calibrate::Moments>(const std::vector<std::string>& names)>;

// Makes constant float32 weights small numbers; the nodes go on computing with floats. Each is a step of the rewriter.
// A second time nothing is changed. Error (usage) for a name that no node has, (unsupported) for an operator set
// without the DequantizeLinear that is needed. `moments`: for algorithms that look at what layers read; they are asked
// for as many layers at a time as a gibibyte holds, one at least.
WeightReport compress_weights(ir::Model& model, ir::Rewriter& rewriter, const WeightOptions& options,
                              Diagnostics& findings, const MomentsOf& moments = {});
WeightReport compress_weights(ir::Model& model, const WeightOptions& options, Diagnostics& findings);

}  // namespace assay::convert
