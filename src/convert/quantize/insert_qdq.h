#pragma once

#include "base/diagnostics.h"
#include "convert/quantize/qdq_plan.h"
#include "convert/quantize/quantizer.h"
#include "ir/rewriter.h"

namespace assay::convert {

// The nodes of a model after quantizing it.
struct QdqReport {
  bool changed = false;
  std::vector<Layer> layers;  // compute and elementwise nodes, in the order of the model
  uint64_t activations = 0;   // that are rounded to integers
  uint64_t weights = 0;       // constants that became integers
  uint64_t weight_bytes_before = 0;
  uint64_t weight_bytes_after = 0;
};

// The plan of insert_qdq: plan_qdq without the nodes that work on a value without a range.
QdqPlan plan_with_ranges(const ir::Model& model, QdqOptions options, const calibrate::Ranges& ranges,
                         Diagnostics& findings);

// Puts QuantizeLinear and DequantizeLinear before nodes that can work on integers, where a runtime merges them with the
// node: activations with one scale each, weights as int8 with a scale for each output channel. Biases become int32 in
// the scale of the products with activations of uint8, for runtimes that merge nothing else; TensorRT, which needs
// symmetric ones, takes none but floats. What has no range stays float, and so do the model's inputs, outputs and nodes
// that are quantized already; a second time nothing is changed. Each layer is a step of the rewriter. float8 is for
// operands of products alone. Errors: those of plan_qdq.
QdqReport insert_qdq(ir::Model& model, ir::Rewriter& rewriter, const QdqOptions& options,
                     const calibrate::Ranges& ranges, Diagnostics& findings);
QdqReport insert_qdq(ir::Model& model, const QdqOptions& options, const calibrate::Ranges& ranges,
                     Diagnostics& findings);

}  // namespace assay::convert
