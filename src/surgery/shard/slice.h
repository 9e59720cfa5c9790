#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace assay::surgery {

// One of `count` equal parts of a tensor.
struct Part {
  size_t axis = 0;
  int64_t index = 0;
  int64_t count = 1;
  int64_t groups = 1;  // the axis holds so many parts one after the other, each of which is split
};

// The part as a tensor of its own. Its elements are copied when they are accessed, and streamed without copying the
// whole; the axis must divide evenly.
tensor::Tensor slice_of(const tensor::Tensor& tensor, const Part& part);

}  // namespace assay::surgery
