#pragma once

#include "engine/devices/cuda/tiles/tile_product.h"

namespace assay::engine::cuda {

// Sums of the codes of all rows of the left, each less the zero point, as int32 by item and row.
Launch row_sums(Programs& programs, const TileProduct& product, const Pointer& sums);

}  // namespace assay::engine::cuda
