#pragma once

#include <functional>

#include "passes/pass.h"

namespace assay::convert {

// Puts constants in the place of DequantizeLinear nodes that work on constants, with what the reference computes.
// `wanted`: of which nodes; empty: of all.
void dequantize_constants(passes::PassRun& run, const std::function<bool(ir::NodeId)>& wanted = {});
// Takes pairs of QuantizeLinear and DequantizeLinear with the same scale and zero point out of the way.
void remove_pairs(passes::PassRun& run);

}  // namespace assay::convert
