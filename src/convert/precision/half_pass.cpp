#include "convert/precision/half_pass.h"

#include "convert/precision/convert_floats.h"

namespace assay::convert {

void run_half_pass(passes::PassRun& run, tensor::DType half) {
  HalfOptions options = run.options().get<HalfOptions>();
  options.half = half;
  Diagnostics findings;
  const HalfReport report = convert_floats(run.model(), run.rewriter(), options, findings);
  for (const Layer& layer : report.layers) {
    if (!layer.converted) run.skip(layer.node, layer.reason);
  }
}

}  // namespace assay::convert
