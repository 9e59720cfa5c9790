// Before: nodes that compute in float32, with float32 weights.
// After:  the same nodes in float16, with weights of float16, and Casts where a value goes to or comes from what stays
//         float32.
// Only if: the operator's schema admits float16 for the argument, the weights fit into it, and 16 bits make sense
// there.
#include "convert/precision/half_pass.h"

namespace assay::passes {

Pass pass_precision_to_float16() {
  return {.name = "to-float16",
          .summary = "compute in float16 instead of float32",
          .pass_class = PassClass::lossy,
          .run = [](PassRun& run) { convert::run_half_pass(run, tensor::DType::float16); }};
}

}  // namespace assay::passes
