#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "analysis/rounding.h"
#include "analysis/samples.h"

namespace assay::analysis {

// Computes a node on other operands.
using Evaluate = std::function<tensor::Datum(const std::vector<tensor::Datum>& inputs)>;

// True for sums of products by weights at operand 1 in which each result follows from one row of operand 0.
bool is_product_of_rows(const ir::Model& model, ir::NodeId node);

struct ProductMoves {
  const Rounding& rounding;
  double unit = 0;         // roundoff of the arithmetic
  double of_operands = 0;  // mean squares, relative to a product, of what its operands may be off by beside that
};

// Mean squares of what moved roundings do to the results of a Conv or MatMul, from the squares of what it sums.
std::vector<double> product_squares(const std::vector<tensor::Datum>& inputs, const tensor::Datum& exact,
                                    const ProductMoves& moves, const Evaluate& evaluate);

// Sums of products in runs whose first operand alone is moved: `exact` and what its differences, which `evaluate` gets
// one below the other in place of it, make of it in float32. Nullopt where they are no small numbers.
std::optional<std::vector<tensor::Datum>> moved_products(const Samples& first, uint32_t runs,
                                                         const tensor::Datum& exact, const Evaluate& evaluate);

}  // namespace assay::analysis
