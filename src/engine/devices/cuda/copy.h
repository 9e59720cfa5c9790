#pragma once

#include "engine/devices/cuda/launch.h"

namespace assay::engine::cuda {

// Copies a tensor to other strides, and to another type where floats can be read of both.
std::unique_ptr<Kernel> make_copy(Programs& programs, const TensorDesc& from, const TensorDesc& to);

// One of several copies: where its elements are, from the beginning of a layer's input and output.
struct CopyPart {
  size_t input = 0;
  TensorDesc from;
  TensorDesc to;
  int64_t to_offset = 0;  // elements
};
// Copies parts into the first output; null: one has no kernel.
std::unique_ptr<Kernel> make_copies(Programs& programs, const std::vector<CopyPart>& parts);

}  // namespace assay::engine::cuda
