#pragma once

#include "debug/causes/causes.h"
#include "debug/causes/observation.h"

namespace assay::debug {

// Layout: the right numbers stand in other places.
std::optional<Cause> layout(const Observation& seen);
// Scale: all elements are one factor times what they should be, or one number more, or those at one index of an axis
// are.
std::optional<Cause> scale(const Observation& seen);
// Place: the wrong elements stand at one index of an axis, or only at its ends.
std::optional<Cause> place(const Observation& seen);

}  // namespace assay::debug
