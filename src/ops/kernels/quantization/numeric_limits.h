#pragma once

#include "ops/eval.h"

namespace assay::ops {

// The least and the greatest finite number of a type, in its carrier C (integers also in double).
template <typename C>
C lowest_of(DType dtype);
template <typename C>
C highest_of(DType dtype);

// The double nearest to `value` that `dtype` holds; integers and other types are given back as they are.
double rounded_to(DType dtype, double value);

}  // namespace assay::ops
