#pragma once

#include "compare/measuring/tile.h"
#include "tensor/tensor.h"

namespace assay::compare {

// The type in whose units floating numbers of two types are compared: the narrower one, of float16 and bfloat16 the
// latter; an integer takes the other's type. undefined where neither is floating.
tensor::DType ulp_type(tensor::DType a, tensor::DType b);

struct UlpPair {
  const tensor::Tensor& a;
  const tensor::Tensor& b;
  tensor::DType type;
  bool finite;  // no element of the tile is NaN
};

// The greatest number of steps between neighbours of the type from an element of series 0 of the tile to that of series
// 1; -0 is 0. NaN is at no distance from NaN, and 2^64 - 1 away from a number.
uint64_t max_ulp_of_floats(const UlpPair& pair, uint64_t number, const Tile& tile, const TileKernels& kernels);
// The greatest distance in ULPs of a full tile without NaN, of two tensors of one floating type of at least 16 bits.
uint64_t max_ulp_as_stored(const tensor::Tensor& a, const tensor::Tensor& b, uint64_t number,
                           const TileKernels& kernels);

}  // namespace assay::compare
