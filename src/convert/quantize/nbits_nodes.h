#pragma once

#include "convert/quantize/block_codes.h"
#include "convert/quantize/linear_nodes.h"
#include "ir/edit.h"

namespace assay::convert {

// A matrix in the layout of com.microsoft's MatMulNBits: column by column, block by block, codes without sign.
struct NBitsWeight {
  ir::ValueId codes;
  ir::ValueId scales;
  ir::ValueId zero_points;  // invalid: the middle of the codes
  int64_t rows = 0;
  int64_t columns = 0;
  Blocks blocks;
  uint64_t size_bytes = 0;  // of all that was added
};

// Precondition: `shape` is that of a matrix, and the blocks run along what is summed up.
NBitsWeight add_nbits_weight(LinearNodes& nodes, std::string_view base, const tensor::Shape& shape,
                             const Blocks& blocks, const BlockCodes& codes);
// True if a MatMulNBits can do what a MatMul or Gemm does.
bool has_nbits_form(const ir::Model& model, ir::NodeId node, const tensor::Shape& weight);
// Puts it there.
void make_nbits_node(ir::Model& model, ir::Edit& edit, ir::NodeId node, const NBitsWeight& weight);

}  // namespace assay::convert
