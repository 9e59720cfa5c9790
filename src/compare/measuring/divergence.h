#pragma once

#include "compare/measuring/tile.h"

namespace assay::compare {

// Kullback-Leibler divergence, in nats, of series 0 from series 1 (the reference), each scaled to sum 1. Infinite where
// the reference has mass and the other has none; NaN for a negative element, no mass, or no elements.
double divergence(const TileSource& source);

}  // namespace assay::compare
