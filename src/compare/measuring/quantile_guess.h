#pragma once

#include <array>
#include <optional>
#include <vector>

#include "compare/measuring/series_guess.h"
#include "compare/measuring/tile.h"

namespace assay::compare {

// The elements of a tile of each series as float32, see code_of(); NaN behind the last element of all.
struct TileCodes {
  std::array<const float*, kMostSeries> of = {};
  std::array<bool, kMostSeries> is_exact = {};  // the codes of a series are its elements
};

// Finds quantiles in the pass that sums up: a sample tells between which codes each lies, and whoever goes over the
// tiles shows their codes once; what lies between is kept and selected from. The few elements that have the codes found
// are loaded again where they are not their codes. Where the sample misled, or too much lay between, nothing is found.
class QuantileGuess {
 public:
  // Tiles come in pieces of tiles_a_piece(), each from one thread and in order. Few elements are not worth a guess.
  QuantileGuess(const TileSource& source, const std::vector<std::vector<double>>& wanted);

  bool is_empty() const { return series_.empty(); }
  void add(const TileCodes& codes, uint64_t number);
  // What was found of what was wanted; of use for series without NaN.
  std::vector<std::vector<std::optional<double>>> find(const TileSource& source) const;

 private:
  uint64_t count_ = 0;
  uint64_t piece_tiles_ = 1;
  std::vector<std::vector<double>> wanted_;
  std::vector<SeriesGuess> series_;
};

}  // namespace assay::compare
