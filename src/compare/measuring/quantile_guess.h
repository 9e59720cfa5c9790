#pragma once

#include <array>
#include <optional>
#include <vector>

#include "compare/measuring/tile.h"

namespace assay::compare {

// The elements of a tile of each series as float32, which keeps their order; only 0 becomes 0, other equal ones may
// have been different.
struct TileCodes {
  std::array<const float*, kMostSeries> of = {};
  std::array<bool, kMostSeries> is_exact = {};  // the codes of a series are its elements
  uint64_t number = 0;                          // of the tile
};

// The exact elements of a tile: loaded, or of two float32 tensors, whose differences are computed again.
struct TileElements {
  const Tile* loaded = nullptr;
  const float* a = nullptr;
  const float* b = nullptr;
  double zero_reference = 0;

  double at(size_t series, uint64_t place) const;
};

// Finds quantiles in the pass that sums up: a sample tells between which codes each lies, and whoever goes over the
// tiles shows them once; what lies between is kept and selected from. Where the sample misled, or too much lay between,
// nothing is found. The elements that count do not depend on the threads.
class QuantileGuess {
 public:
  // Tiles come in pieces of tiles_a_piece(), each from one thread. Few elements are not worth a guess. `is_exact`: the
  // elements of a series are float32 by nature.
  QuantileGuess(const TileSource& source, const std::vector<std::vector<double>>& wanted,
                const std::array<bool, kMostSeries>& is_exact);

  bool is_empty() const { return pieces_.empty(); }
  // A full tile.
  void add(const TileCodes& codes, const TileElements& elements);
  // The last tile, if it is not full.
  void add(const Tile& tile, uint64_t number);
  // What was found of what was wanted.
  std::vector<std::vector<std::optional<double>>> find(uint64_t count) const;

 private:
  struct Target {
    double quantile = 0;
    CodeBracket bracket;
    // Many elements have the lowest or the highest code; being equal to it, they are counted and not kept.
    bool counts_low = false;
    bool counts_high = false;

    bool is_point() const { return counts_low && bracket.low == bracket.high; }
  };
  // What a piece has of one bracket.
  struct Part {
    BracketCount count;
    uint64_t at_low = 0;  // of those inside, what is counted
    uint64_t at_high = 0;
    std::vector<double> kept;
    std::vector<float> packed;  // kept too, where codes are exact
    bool is_full = false;       // or an element is not equal to its code

    void add(const Part& next);
  };
  using Piece = std::array<std::vector<Part>, kMostSeries>;

  void sift(const TileCodes& codes, size_t series, const TileElements& elements, Piece& piece) const;
  Piece& piece_of(uint64_t tile) { return pieces_[tile / piece_tiles_]; }
  void keep(double element, Part& part) const;
  void pack(const float* codes, const TileBits& marks, Part& part) const;
  void propose(size_t series, std::vector<double>& sample, const std::vector<double>& wanted, bool is_exact);
  std::optional<double> find(size_t series, size_t target, uint64_t count) const;

  std::array<std::vector<Target>, kMostSeries> targets_;
  std::vector<Piece> pieces_;
  uint64_t piece_tiles_ = 1;
  uint64_t most_kept_ = 0;  // of one bracket in one piece
};

}  // namespace assay::compare
