#pragma once

#include <vector>

#include "engine/layers/tensor_desc.h"

namespace assay::engine::cpu {

// A dim of what is copied, with its strides on both sides.
struct CopyDim {
  int64_t size;
  int64_t from;
  int64_t to;
};

// Dims in the order of the target, outermost first; neighbours that lie alike in both are one. There are two at least.
std::vector<CopyDim> copy_dims(const TensorDesc& from, const TensorDesc& to);

// The begin of one of the places of all dims but the two innermost, in elements.
struct CopyPlace {
  int64_t from = 0;
  int64_t to = 0;
};
CopyPlace copy_place(const std::vector<CopyDim>& dims, int64_t outer);

}  // namespace assay::engine::cpu
