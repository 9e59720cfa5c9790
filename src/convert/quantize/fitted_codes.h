#pragma once

#include "calibrate/moments.h"
#include "convert/quantize/block_codes.h"

namespace assay::convert {

// Codes of a matrix that are fitted to what its layer reads.
struct FittedCodes {
  BlockCodes codes;
  tensor::Tensor factor;  // with which the layer's input is multiplied, by place of the sum; no elements: none
};

// One number after the other, each error made up for by those that are still to come (GPTQ), in the metric of the
// moments. `along`: the axis that is summed up. Precondition: a float32 matrix whose sums have the size of the moments.
FittedCodes compensated_codes(const tensor::Tensor& floats, const Blocks& blocks, uint32_t along,
                              const calibrate::Moments& moments);

// Codes of the matrix with its rows scaled by a power of the root mean square that they meet (AWQ): the power of the
// least error of the layer's results. Scales of blocks are those of the least error of their own sums.
FittedCodes scaled_codes(const tensor::Tensor& floats, const Blocks& blocks, uint32_t along,
                         const calibrate::Moments& moments);

}  // namespace assay::convert
