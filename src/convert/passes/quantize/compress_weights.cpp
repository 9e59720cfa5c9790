// Before: Conv, Gemm or MatMul with a constant float32 weight.
// After:  the weight as small integers with scales, behind DequantizeLinear or in a MatMulNBits.
// Only if: the operator set can hold it, and all numbers of the weight are finite.
#include "convert/quantize/weight_only.h"
#include "passes/pass.h"

namespace assay::passes {
namespace {

void run_compress_weights(PassRun& run) {
  Diagnostics findings;
  const convert::WeightReport report =
      convert::compress_weights(run.model(), run.rewriter(), run.options().get<convert::WeightOptions>(), findings);
  for (const convert::WeightLayer& layer : report.layers) {
    if (!layer.converted) run.skip(layer.node, layer.reason);
  }
}

}  // namespace

Pass pass_quantize_compress_weights() {
  return {.name = "compress-weights",
          .summary = "store weights as small integers, and compute with floats",
          .pass_class = PassClass::lossy,
          .run = run_compress_weights};
}

}  // namespace assay::passes
