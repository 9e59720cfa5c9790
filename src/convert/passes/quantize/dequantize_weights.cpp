// Before: DequantizeLinear of a constant.
// After:  the constant as floats.
// Only if: scale and zero point are constant too, and the reference runs the node.
#include "convert/quantize/dequantize.h"

namespace assay::passes {

Pass pass_quantize_dequantize_weights() {
  return {.name = "dequantize-weights",
          .summary = "store quantized weights as floats",
          .pass_class = PassClass::exact,
          .run = [](PassRun& run) { convert::dequantize_constants(run); }};
}

}  // namespace assay::passes
