#pragma once

#include "passes/pass.h"

namespace assay::passes {

// The run of to-float16 and to-bfloat16: converts as the options say, and lists what stays float32 as skipped.
void run_half_pass(PassRun& run, tensor::DType half);

}  // namespace assay::passes
