#pragma once

#include "base/numpy_random.h"
#include "ops/eval.h"

namespace assay::ops {

// The generator of a node: by its attribute `seed`, a float or an integer, else by the run's next seed.
NumpyRandom random_of(const Eval& node);

}  // namespace assay::ops
