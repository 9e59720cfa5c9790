#pragma once

#include "ops/type.h"

namespace assay::ops {

// The facts of a value that is of one type or the other. Nothing, if they have nothing in common.
Type type_union(const Type& a, const Type& b);

// The type of `count` tensors of a type stacked along a new first axis.
Type stacked(const Type& type, const Dim& count);

}  // namespace assay::ops
