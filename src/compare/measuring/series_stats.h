#pragma once

#include "compare/measuring/tile.h"
#include "results/tensor_stats.h"

namespace assay::compare {

// All statistics of a series of the source except those that need sorting. `series` is its sum; where that left the
// range of a double, a further pass sums up scaled elements.
results::TensorStats series_stats(const TileSource& source, size_t which, const Series& series,
                                  const tensor::Shape& shape);

}  // namespace assay::compare
