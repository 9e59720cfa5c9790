#pragma once

#include "ir/model.h"
#include "tasks/sweep/samples.h"

namespace assay::tasks {

// Error (usage) for a word that no form of models has.
void check_variant(const std::string& variant);
// Samples, the first ones, that calibrate such a form.
constexpr uint64_t kCalibrationSamples = 32;
// A form of a model, by a word of sweep_variants().
ir::Model make_variant(const std::string& variant, const ir::Model& model, const SweepRequest& request,
                       SampleReader& samples, uint64_t sample_count);

}  // namespace assay::tasks
