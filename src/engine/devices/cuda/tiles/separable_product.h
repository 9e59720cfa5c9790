#pragma once

#include "engine/devices/cuda/generate/element_site.h"
#include "engine/layers/separable.h"

namespace assay::engine::cuda {

// Sizes of a kernel that makes the operand of a product by a depthwise convolution.
struct SeparableShape {
  int rows = 16, columns = 16;  // of a block
  int blocks = 1;               // of a cluster, whose blocks share out the channels and have columns each
};

// The convolutions as kernels see them, with what follows each.
struct SeparableProduct {
  ConvGeometry windows;
  int64_t rows = 1, columns = 1;  // of the second one, as a product
};

// Shapes for a product on a card, the best one first; empty: nothing fits. `is_quicker`: the first of them is expected
// to take less time than both convolutions one after the other.
struct SeparableShapes {
  std::vector<SeparableShape> all;
  bool is_quicker = false;
};
SeparableShapes separable_shapes(const SeparableProduct& product, const Card& card);

// The kernel of a layer in this shape. Null: its operands lie in another way, or something has no text.
std::unique_ptr<Kernel> separable_kernel(Programs& programs, const Separated& parts, const SeparableShape& shape);

// The product of a layer. Nullopt: as before.
std::optional<SeparableProduct> separable_product(const Separated& parts);

}  // namespace assay::engine::cuda
