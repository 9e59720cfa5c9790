#include "passes/precision/half_pass.h"

#include "passes/precision/convert_floats.h"

namespace assay::passes {

void run_half_pass(PassRun& run, tensor::DType half) {
  HalfOptions options = run.options().half;
  options.half = half;
  Diagnostics findings;
  const HalfReport report = convert_floats(run.model(), run.rewriter(), options, findings);
  for (const Layer& layer : report.layers) {
    if (!layer.converted) run.skip(layer.node, layer.reason);
  }
}

}  // namespace assay::passes
