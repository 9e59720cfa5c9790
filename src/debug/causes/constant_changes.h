#pragma once

#include <string>

#include "debug/accuracy/layer_oracle.h"

namespace assay::debug {

// How constant `b` of a second model differs from `a`: `is 1e-05, in the other model 0.05`. Empty if all elements are
// the same, or would be if `a` were rounded to the type of `b`.
std::string constant_change(const Datum& a, const Datum& b);

}  // namespace assay::debug
