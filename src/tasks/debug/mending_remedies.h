#pragma once

#include <span>

#include "tasks/debug/remedies.h"

namespace assay::tasks {

// Tries remedies of a model that comes with 16-bit floats: computes guilty layers, and those whose values do not fit,
// in float32, and puts Clips before guilty Casts; says what the error of the outputs of the first culprit's backend is
// then. Returns none for saved results.
std::vector<results::Remedy> try_mending(const RemedyCase& given, std::span<const debug::Accused> culprits,
                                         const std::vector<results::AccuracySide>& sides);

}  // namespace assay::tasks
