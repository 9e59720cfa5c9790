#pragma once

#include "tensor/tensor.h"

namespace assay::tasks {

// Elements of a mask for what is seen, and for what is not.
struct MaskNumbers {
  double seen = 1;
  double hidden = 0;
};

// Numbers of a mask that has rows for each token: floats are added to scores, others are truths.
MaskNumbers usual_mask_numbers(tensor::DType dtype);
// Numbers that a mask itself shows: one with negative elements, or of more dims and without ones, is added to scores.
MaskNumbers mask_numbers(const tensor::Tensor& mask);

// The mask of the next step, made of the last row of each matrix, which sees one place more: that behind its last one.
tensor::Tensor next_mask_row(const tensor::Tensor& mask);
// Likewise with places that are there already: `place` is the one that becomes visible.
tensor::Tensor next_mask_row(const tensor::Tensor& mask, uint64_t place);
// Matrices with one row and one column more, for models that read all tokens again.
tensor::Tensor grown_mask(const tensor::Tensor& mask);
// Matrices whose row of a token becomes that of the token before it, and sees itself, too.
tensor::Tensor filled_mask(const tensor::Tensor& mask, uint64_t token);

}  // namespace assay::tasks
