#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "convert/precision/float_values.h"
#include "convert/precision/half_options.h"
#include "ir/model.h"

namespace assay::convert {

// Values that lose their meaning in 16 bits, whatever their range: positions and lengths, and what leads to indices,
// integers, angles of sines, sampling coordinates, comparisons with positions, and float64. The search goes backwards
// and ends at products, pools and normalizations, whose results are features of a network.
struct ExactValues {
  std::vector<std::string_view> reasons;  // by node: why it stays float32; empty: nothing is known against it
  std::vector<bool> is_exact;             // by value: leads to one of these
};

ExactValues find_exact_values(const ir::Model& model, const FloatModel& floats, const HalfOptions& options);

// All reasons but that of numbers computed from integers, which backends compute once.
std::span<const std::string_view> exact_reasons();

}  // namespace assay::convert
