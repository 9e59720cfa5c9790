#pragma once

#include "cli/options/spec.h"

namespace assay::cli {

// `--shape-inference` and its older spellings.
OptionGroup shape_inference_group();
// The line by which scripts for the peer see that types were inferred, where the program is called by its name.
void tell_inference_as_there(const Arguments& arguments, Environment& environment);
// `--no-onnxruntime-shape-inference`, which is taken where the peer has it.
OptionRow no_onnxruntime_row();
// `--force-fallback-shape-inference`, for commands that can also take types from a run.
OptionRow fallback_inference_row();
}  // namespace assay::cli
