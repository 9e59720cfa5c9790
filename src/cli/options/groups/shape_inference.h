#pragma once

#include "cli/options/spec.h"

namespace assay::cli {

// `--shape-inference` and its older spellings.
OptionGroup shape_inference_group();
// `--force-fallback-shape-inference`, for commands that can also take types from a run.
OptionRow fallback_inference_row();
}  // namespace assay::cli
