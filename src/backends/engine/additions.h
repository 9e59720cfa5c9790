#pragma once

#include <map>
#include <span>

#include "engine/run/context.h"

namespace assay::backends {

// Seconds that steps of the first device add to a run, by the device's clock: those of runs that compute the step
// twice, less those of runs that do not. Launches that overlap count once, unlike in times of single steps. A step that
// cannot be computed twice is left out.
std::map<size_t, double> added_seconds(const engine::Program& program, engine::Context& context,
                                       std::span<const ops::InputDatum> inputs);

}  // namespace assay::backends
