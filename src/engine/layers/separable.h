#pragma once

#include "engine/layers/convolution.h"
#include "engine/layers/layer_part.h"

namespace assay::engine {

// Two convolutions in one layer: one of channels apart, and of its result, which nothing else reads, one of single
// pixels.
struct SeparableForm {
  size_t pointwise = 0;  // the place of the second among the layer's nodes
};

// True for the convolutions of such a layer; of 16 bits, the first of 3 x 3 or 5 x 5 at stride 1 or 2, with channels
// that fill packs of 16 bytes.
bool opens_separable(const Layer& layer);
bool ends_separable(const Layer& layer);

// Nullopt: the layer is another one.
std::optional<SeparableForm> find_separable(const Layer& layer);

// Each with what follows it.
struct Separated {
  LayerPart depthwise, pointwise;  // the value between them lies with channels last
};
Separated separated(const Layer& layer, const SeparableForm& form);

}  // namespace assay::engine
