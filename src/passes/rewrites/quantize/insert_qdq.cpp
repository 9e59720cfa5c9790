// Before: nodes that compute in float32.
// After:  the same nodes behind QuantizeLinear and DequantizeLinear, where a runtime merges them with the node, and
//         weights as int8.
// Only if: the options know the range of every value that the node works on, and it has a form for integers.
#include "passes/quantize/insert_qdq.h"

#include "passes/pass.h"

namespace assay::passes {
namespace {

void run_insert_qdq(PassRun& run) {
  Diagnostics findings;
  const Options& options = run.options();
  const QdqReport report = insert_qdq(run.model(), run.rewriter(), options.qdq, options.ranges, findings);
  for (const Layer& layer : report.layers) {
    if (!layer.converted) run.skip(layer.node, layer.reason);
  }
}

}  // namespace

Pass pass_quantize_insert_qdq() {
  return {.name = "insert-qdq",
          .summary = "compute with 8-bit integers where the ranges of values are known",
          .pass_class = PassClass::lossy,
          .run = run_insert_qdq};
}

}  // namespace assay::passes
