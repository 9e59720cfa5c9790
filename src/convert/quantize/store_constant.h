#pragma once

#include <functional>

#include "tensor/tensor.h"

namespace assay::convert {

// Takes a constant that was made to where it takes no memory, if there is such a place.
using StoreConstant = std::function<tensor::Tensor(tensor::Tensor made)>;

}  // namespace assay::convert
