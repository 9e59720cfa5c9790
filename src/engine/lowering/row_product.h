#pragma once

#include <optional>
#include <vector>

#include "base/function_ref.h"
#include "engine/lowering/moved_dims.h"
#include "passes/inferred.h"

namespace assay::engine {

struct ProductsContext {
  passes::PassRun& run;
  passes::Inferred inferred;
  std::vector<ir::NodeId> nodes;  // that are products
};

// A product by a constant matrix, which treats all rows alike, of what moves have made.
struct RowProduct {
  ir::NodeId product;
  ir::NodeId follower;            // elementwise, with constants by column; invalid: there is none
  tensor::Shape rows;             // dims of the operand
  tensor::Shape made;             // dims of the result
  std::vector<ir::NodeId> moves;  // that make the operand, the last one first, and nothing else reads
  ir::ValueId source;             // of the moves
  ir::NodeId last() const { return follower.valid() ? follower : product; }
};

// Applies a rule to each of a model, in order. The rule may replace the product, and nodes behind it that are none.
void for_row_products(passes::PassRun& run, void (*apply)(ProductsContext& context, const RowProduct& product));

// The moves behind a value which nothing else reads, one after another, as long as the rule takes them. Gives the last
// result.
ir::ValueId take_moves(ProductsContext& context, ir::ValueId value, std::vector<ir::NodeId>& moves,
                       FunctionRef<bool(ir::NodeId move, const tensor::Shape& result)> takes);

// Nodes for patches: the product of other rows, and what follows it.
ir::PatchValue add_product(ir::Patch& patch, const ir::Model& model, const RowProduct& product, ir::PatchValue rows);
// Removes all nodes of the product, and the moves behind it, which are in order.
void remove_product(ir::Patch& patch, const RowProduct& product, const std::vector<ir::NodeId>& behind);

}  // namespace assay::engine
