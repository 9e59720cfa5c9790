#pragma once

#include "tensor/dtype.h"

namespace assay::passes {

// True if type `to` has every number of type `from`, infinities, NaN and -0 among them: a cast there and back keeps all
// bits of a number. Booleans are the numbers 0 and 1.
bool is_lossless(tensor::DType from, tensor::DType to);

// True if casting `from` to `through` to `to` gives the same as casting `from` to `to` at once.
bool is_cast_chain_direct(tensor::DType from, tensor::DType through, tensor::DType to);

}  // namespace assay::passes
