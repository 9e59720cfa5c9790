#pragma once

#include <string>

#include "tensor/datum.h"

namespace assay::cases {

// Why equal outputs would say little: more than 30% zeros, or all elements alike. Empty if there are at most four
// elements, or nothing is to be said. Booleans may be zeros.
std::string weakness(const tensor::Datum& expected);

}  // namespace assay::cases
