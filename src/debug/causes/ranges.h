#pragma once

#include "debug/causes/causes.h"
#include "debug/causes/observation.h"

namespace assay::debug {

// Infinity or NaN on one of the two sides, and numbers that a type has no bits for.
std::optional<Cause> out_of_range(const CauseCase& given, const Observation& seen);
// All elements beyond a bound are at it, and all others are right.
std::optional<Cause> clipped(const Observation& seen);
// All elements are multiples of one step, and at most half a step off.
std::optional<Cause> on_steps(const Observation& seen);

}  // namespace assay::debug
