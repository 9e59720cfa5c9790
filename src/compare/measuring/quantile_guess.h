#pragma once

#include <array>
#include <optional>
#include <vector>

#include "compare/measuring/series_guess.h"
#include "compare/measuring/tile.h"

namespace assay::compare {

// The elements of a tile of each series as float32, see code_of(); NaN after the last element.
struct TileCodes {
  std::array<const float*, kMostSeries> of = {};
  std::array<bool, kMostSeries> is_exact = {};  // the codes of a series are its elements
};

// True if every element of the tensor is its code.
bool has_exact_codes(const tensor::Tensor& tensor);

// Finds quantiles in the pass that sums up: a sample brackets each quantile by codes, the caller adds the codes of each
// tile once, and codes within the brackets are kept and selected from. The few elements with the selected codes are
// loaded again if they differ from their codes. If the sample misled or a bracket held too much, nothing is found.
class QuantileGuess {
 public:
  // Tiles come in pieces of tiles_a_piece(), each from one thread and in order. With few elements no guess is made.
  QuantileGuess(const TileSource& source, const std::vector<std::vector<double>>& wanted);

  bool is_empty() const { return series_.empty(); }
  void add(const TileCodes& codes, uint64_t number);
  // The wanted quantiles that were found; valid for series without NaN.
  std::vector<std::vector<std::optional<double>>> find(const TileSource& source) const;

 private:
  uint64_t count_ = 0;
  uint64_t piece_tiles_ = 1;
  std::vector<std::vector<double>> wanted_;
  std::vector<SeriesGuess> series_;
};

// The wanted quantiles: those that the guess finds, and the others by selection; of a series with NaN none may be
// wanted.
std::vector<std::vector<double>> find_quantiles(const TileSource& source, const QuantileGuess& guess,
                                                const std::vector<std::vector<double>>& wanted);

}  // namespace assay::compare
