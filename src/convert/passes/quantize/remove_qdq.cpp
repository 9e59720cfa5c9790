// Before: QuantizeLinear and DequantizeLinear, one after the other or before a weight.
// After:  the floats that were rounded, and weights as floats.
// Only if: both nodes have the same scale and zero point; other QuantizeLinear and DequantizeLinear nodes stay.
#include "convert/quantize/dequantize.h"

namespace assay::passes {
namespace {

void remove_qdq(PassRun& run) {
  convert::dequantize_constants(run);
  convert::remove_pairs(run);
}

}  // namespace

Pass pass_quantize_remove_qdq() {
  return {.name = "remove-qdq",
          .summary = "compute with floats instead of quantized values",
          .pass_class = PassClass::lossy,
          .run = remove_qdq};
}

}  // namespace assay::passes
