// Before: nodes that compute in float32.
// After:  the same nodes behind QuantizeLinear and DequantizeLinear, where a runtime merges them with the node, and
//         weights as int8.
// Only if: the options know the range of every value that the node works on, and it has a form for integers.
#include "convert/quantize/insert_qdq.h"

#include "passes/pass.h"

namespace assay::passes {
namespace {

void run_insert_qdq(PassRun& run) {
  Diagnostics findings;
  const Options& options = run.options();
  const convert::QdqReport report = convert::insert_qdq(run.model(), run.rewriter(), options.get<convert::QdqOptions>(),
                                                        options.get<calibrate::Ranges>(), findings);
  for (const convert::Layer& layer : report.layers) {
    if (!layer.converted) run.skip(layer.node, layer.reason);
  }
}

}  // namespace

Pass pass_quantize_insert_qdq() {
  return {.name = "insert-qdq",
          .summary = "compute with 8-bit integers where the ranges of values are known",
          .pass_class = PassClass::lossy,
          .needs = "measured ranges of values",
          .run = run_insert_qdq};
}

}  // namespace assay::passes
