#pragma once

#include <vector>

#include "compare/measuring/tile.h"

namespace assay::compare {

// The result of one pass over a series.
struct Sifted {
  std::vector<BracketCount> counts;  // for each bracket
  std::vector<double> kept;  // elements in any bracket of more than one number, of every `stride`th tile; in no order
};

// Counts, for each series, the elements below and inside each of its brackets.
std::vector<Sifted> sieve(const TileSource& source, const std::vector<std::vector<Bracket>>& brackets, uint64_t stride);

// All elements of every `stride`th tile of the wanted series.
std::vector<Sifted> sample(const TileSource& source, const std::vector<bool>& wanted, uint64_t stride);

}  // namespace assay::compare
