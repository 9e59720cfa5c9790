#pragma once

#include "ir/model.h"
#include "tasks/sweep/samples.h"

namespace assay::tasks {

// Error (usage) for a word that no form of models has.
void check_variant(const std::string& variant);
// True if its making looks at samples: they decide results.
bool is_calibrated(const std::string& variant);
// A form of a model: `fp16`, `bf16`, `int8`, `weights-int8`, `weights-int4`, `simplify`, `fuse`, `opset-N`. Samples
// calibrate `int8`.
ir::Model make_variant(const std::string& variant, const ir::Model& model, const SweepRequest& request,
                       SampleReader& samples, uint64_t sample_count);

}  // namespace assay::tasks
