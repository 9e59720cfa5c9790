#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "calibrate/moments.h"
#include "convert/quantize/block_codes.h"
#include "convert/quantize/linear_nodes.h"
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

// Moments of values of the model as it was, by name.
using MomentsOf = std::function<std::map<std::string, calibrate::Moments>(const std::vector<std::string>& names)>;

// Services of the caller, where it has them.
struct WeightServices {
  MomentsOf moments_of;  // for algorithms that look at what layers read
  StoreConstant store;
};

// The operator set whose DequantizeLinear takes such weights.
int64_t needed_operator_set(const WeightOptions& options);

// Makes constant float32 weights small numbers; the nodes go on computing with floats. Each is a step of the rewriter.
// A second time nothing is changed. Error (usage) for a name that no node has, (unsupported) for an operator set
// without the DequantizeLinear that is needed. Moments are asked for as many layers at a time as a gibibyte holds, one
// at least. Of weights in mapped files, and with a store, one at a time takes memory.
WeightReport compress_weights(ir::Model& model, ir::Rewriter& rewriter, const WeightOptions& options,
                              Diagnostics& findings, const WeightServices& services = {});
WeightReport compress_weights(ir::Model& model, const WeightOptions& options, Diagnostics& findings);

}  // namespace assay::convert
