#pragma once

#include "engine/devices/cuda/tiles/tile_product.h"

namespace assay::engine::cuda {

// Shapes of tiles that stream through shared memory by maps of the operands, the best first. Empty: the card has no
// such instructions, or the operands do not lie so.
std::vector<TileShape> stream_shapes(const TileProduct& product, bool permits_tf32, const Card& card);

// The launch that computes the product in such a shape, each result of which `site` takes as `given`.
Launch stream_launch(Programs& programs, const TileProduct& product, const TileShape& shape, ElementSite site);

}  // namespace assay::engine::cuda
