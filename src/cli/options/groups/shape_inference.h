#pragma once

#include "cli/options/groups/model.h"
#include "cli/options/spec.h"
#include "ops/inference.h"

namespace assay::cli {

// `--shape-inference` and what older command lines say about it.
OptionGroup shape_inference_group();
// `--force-fallback-shape-inference`, for commands that can also take types from a run.
OptionRow fallback_inference_row();
// What contradicts the model becomes warnings.
void note_contradictions(const ops::Inference& inference, LoadedModel& loaded);
// Infers the types of all values and writes them into the model.
void infer_shapes(LoadedModel& loaded);

}  // namespace assay::cli
