#pragma once

#include <optional>
#include <vector>

#include "debug/accuracy/causes.h"

namespace assay::debug {

// Numbers beyond the greatest or least that are given are cut off, or all stand on the steps of a quantizer.
std::optional<Cause> quantized(const std::vector<double>& given, const std::vector<double>& exact);
// The layer adds up terms that are far greater than their sum, and is off by little beside them. `unit`: of its type.
std::optional<Cause> cancellation(const ir::Model& model, const Accused& accused, double unit);

}  // namespace assay::debug
