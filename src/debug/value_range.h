#pragma once

#include <span>

#include "results/value_ranges.h"

namespace assay::debug {

// Measures numbers, and what 16-bit floats and 8-bit integers would make of them. Numbers that are not finite count in
// `count` alone.
results::ValueRange measure_range(std::span<const double> numbers);

}  // namespace assay::debug
