#pragma once

#include <vector>

#include "engine/layers/layer.h"

namespace assay::engine {

// An operand of a product in an attention that is written out: matrices of `value`, [..., rows, columns], which
// operators scale by a number, exchange rows and columns of, or repeat for the heads that share them.
struct AttentionOperand {
  ir::ValueId value;
  int64_t sharing = 1;            // heads in a row that share a matrix of `value`
  bool are_values = false;        // not keys, or queries
  bool is_turned = false;         // rows of `value` are columns of the operand
  double scale = 1;               // of the operand
  std::vector<ir::NodeId> nodes;  // that make the operand of `value`, in order
};

// The operand of a product that reads a value, with all nodes before it that nothing else reads and that the product
// need not run. Where there is nothing to gain, as it is given; a value that Concat appends to a cache is a gain.
AttentionOperand find_attention_operand(const ir::Model& model, const ops::Inference& inference, AttentionOperand given,
                                        const ConstantOf& constant);

// Queries with the factors of all nodes before them that do nothing but scale them.
AttentionOperand find_scaled_queries(const ir::Model& model, const ops::Inference& inference, ir::ValueId queries,
                                     const ConstantOf& constant);

}  // namespace assay::engine
