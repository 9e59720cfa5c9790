#pragma once

#include <vector>

#include "engine/layer.h"
#include "engine/spelled_norm.h"

namespace assay::engine {

// What an attention that is written out multiplies: matrices of `value`, [..., rows, columns], which operators scale by
// a number, exchange rows and columns of, or repeat for the heads that share them.
struct AttentionOperand {
  ir::ValueId value;
  int64_t sharing = 1;            // heads in a row that share a matrix of `value`
  bool is_turned = false;         // rows of `value` are columns of the operand
  double scale = 1;               // of the operand
  std::vector<ir::NodeId> nodes;  // that make the operand of `value`, in order
};

// The operand of a product that reads `value`, with all nodes before it that nothing else reads and that the product
// need not run. Where there is nothing to gain, `value` itself.
AttentionOperand find_attention_operand(const ir::Model& model, const ops::Inference& inference, ir::ValueId value,
                                        const ConstantOf& constant);

}  // namespace assay::engine
