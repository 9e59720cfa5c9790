#pragma once

#include <span>
#include <vector>

#include "engine/layers/layer.h"

namespace assay::engine {

// Some nodes of a layer as a layer of their own.
struct LayerPart {
  static constexpr int kMadeBefore = -1;

  Layer layer;
  std::vector<int> inputs;  // the whole layer's inputs by its own; kMadeBefore: what nodes of the layer before it make
};

// Values that nodes before them make lie in this way. The outputs are those of the whole layer.
LayerPart part_of(const Layer& whole, std::span<const ir::NodeId> nodes, Layout between);
// A part that ends with this value.
LayerPart part_until(const Layer& whole, std::span<const ir::NodeId> nodes, Layout between, ir::ValueId last);

}  // namespace assay::engine
