#pragma once

#include "passes/pass.h"

namespace assay::convert {

// The run of to-float16 and to-bfloat16: converts as the options say, and lists what stays float32 as skipped.
void run_half_pass(passes::PassRun& run, tensor::DType half);

}  // namespace assay::convert
