#pragma once

#include <vector>

#include "ir/model.h"
#include "surgery/sparsity/scan.h"

namespace assay::surgery {

// True if weights of this type are checked: floats as they are; integers, 8-bit and narrower floats if DequantizeLinear
// reads them.
bool has_zero(tensor::DType dtype, bool is_dequantized);

// The elements of a weight with the pattern of those that count as zero.
struct ZeroView {
  ZeroPattern pattern;
  tensor::Bytes stored;
  std::vector<std::byte> flags;  // one byte per element if the stored bits alone do not decide

  tensor::Bytes bytes() const { return flags.empty() ? stored : tensor::Bytes(flags); }
};

// `dequantize`, where valid, is the node whose zero point counts. Error if the elements cannot be read, or if the zero
// point is not a constant that fits the weight.
ZeroView view_zeros(const ir::Model& model, const tensor::Tensor& weight, ir::NodeId dequantize);

}  // namespace assay::surgery
