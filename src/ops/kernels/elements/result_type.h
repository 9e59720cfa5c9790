#pragma once

#include <string_view>

#include "ops/node.h"
#include "tensor/dtype.h"

namespace assay::ops {

// True if the operator's version may give output 0 this element type.
bool may_give(const Node& node, tensor::DType dtype);
// The element type that an integer attribute asks for output 0. Error where it may not be.
tensor::DType result_type(const Node& node, std::string_view attribute);

}  // namespace assay::ops
