#pragma once

#include "engine/layers/convolution.h"

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

// One of the two, with what follows it, as a layer of its own.
struct SeparablePart {
  Layer layer;
  std::vector<int> inputs;  // the whole layer's inputs by its own; -1: what the first convolution gives
};
struct Separated {
  SeparablePart depthwise, pointwise;  // the value between them lies with channels last
};
Separated separated(const Layer& layer, const SeparableForm& form);

}  // namespace assay::engine
