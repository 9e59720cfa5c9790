#pragma once

#include "engine/device/lowering_rules.h"
#include "ir/rewriter.h"

namespace assay::engine {

// Before: MatMuls, Gemms or MatMulNBits of one value by constants, or by constant codes with DequantizeLinear, each
//         perhaps with a bias row and a Cast behind it, as queries, keys and values are made
// After:  Split of the product by all their columns side by side
// Only if: they differ in numbers and columns only, and nothing but a Reshape into heads uses each result, of which
//          parts of longer rows are a view; or they are the queries, keys and values of one GroupQueryAttention, which
//          then reads the product itself; or they are two of as few rows as the device fuses, without a bias, and
//          elementwise operators alone use them, and then both.
// Class: exact
void join_products(ir::Model& model, ir::Rewriter& rewriter, const LoweringRules& rules);

}  // namespace assay::engine
