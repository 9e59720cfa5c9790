#pragma once

#include <string>

#include "tensor/datum.h"

namespace assay::cases {

// How far a floating element may be from the expected one: abs + rel * |expected| + ulp units in the last place of the
// element type at the expected value. NaN equals NaN, an infinity only itself. With `bits` also -0 and 0 differ.
struct Tolerance {
  double abs = 0;
  double rel = 0;
  double ulp = 0;
  bool bits = false;
  double least_bfloat16_rel = 0;  // rel is at least this for bfloat16
};

// Empty if they agree; otherwise the first difference on one line. Kinds, element types and shapes must be equal;
// integers, booleans and strings exactly so; sequences, maps and optionals agree item by item.
std::string difference(const tensor::Datum& seen, const tensor::Datum& expected, const Tolerance& tolerance);

}  // namespace assay::cases
