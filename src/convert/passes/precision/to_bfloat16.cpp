// Before: nodes that compute in float32, with float32 weights.
// After:  the same nodes in bfloat16, with weights of bfloat16, and Casts where a value goes to or comes from what
// stays
//         float32.
// Only if: the operator's schema admits bfloat16 for the argument, the weights fit into it, and 16 bits make sense
// there.
#include "convert/precision/half_pass.h"

namespace assay::passes {

Pass pass_precision_to_bfloat16() {
  return {.name = "to-bfloat16",
          .summary = "compute in bfloat16 instead of float32",
          .pass_class = PassClass::lossy,
          .run = [](PassRun& run) { convert::run_half_pass(run, tensor::DType::bfloat16); }};
}

}  // namespace assay::passes
