#pragma once

#include <string>

#include "debug/accuracy/layer_oracle.h"

namespace assay::debug {

struct ConstantChange {
  std::string text;         // `is 1e-05, in the other model 0.05`; empty: no change
  bool is_of_type = false;  // the type of the other model makes this of the number
};
// Compares constant `b` of a second model with `a`. Roundings to the type of `b` are no change, unless they make 0
// or infinity of a number.
ConstantChange constant_change(const Datum& a, const Datum& b);

}  // namespace assay::debug
