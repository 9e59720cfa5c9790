#pragma once

#include <string>

#include "tensor/dtype.h"

namespace assay::engine::cuda {

// `multiply_group(sums, left, right)`, for float16 or bfloat16: adds the products of 64 rows by so many columns, over
// 32 bytes of the depth, to what a thread of four warps has of them. Operands are those of `operand_of` (machine.cu).
std::string group_product_text(tensor::DType dtype, int columns);

}  // namespace assay::engine::cuda
