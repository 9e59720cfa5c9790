#pragma once

#include "cli/options/spec.h"

namespace assay::cli {

// `--shape-inference` and what older command lines say about it.
OptionGroup shape_inference_group();
// `--force-fallback-shape-inference`, for commands that can also take types from a run.
OptionRow fallback_inference_row();
}  // namespace assay::cli
