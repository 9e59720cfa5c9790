#pragma once

#include <array>

#include "compare/measuring/quantile_guess.h"
#include "compare/measuring/tile.h"
#include "tensor/tensor.h"

namespace assay::compare {

// Codes of a tile, with room for those of the differences.
struct PairCodes {
  TileCodes tile;
  alignas(64) float differences[2][kTile];
};

// Reads two tensors of one shape tile by tile, with their differences.
class PairReader {
 public:
  // Error (unsupported) for strings.
  PairReader(const tensor::Tensor& a, const tensor::Tensor& b, const Bounds& bounds, bool infinities_equal);

  const TileKernels& kernels() const { return *kernels_; }
  // All four series.
  TileRelation load(uint64_t number, Tile& tile) const;
  // The sums of a tile without loading it, and its max_ulp(): for full tiles of numbers that are finite, as are their
  // sums; false if the tile must be loaded.
  bool survey(uint64_t number, PairSums& sums, uint64_t& max_ulp) const {
    return survey(number, sums, max_ulp, nullptr);
  }
  // Surveys the tile, and gives its codes if the tensors are of float32; otherwise `codes` has no series.
  bool survey(uint64_t number, PairSums& sums, uint64_t& max_ulp, PairCodes* codes) const;
  // By series: true if its elements are float32, or narrower, by nature.
  std::array<bool, kMostSeries> exact_codes() const;
  // The greatest distance of a loaded tile in units of the last place of the narrower floating type, of integers in
  // units. `finite`: all elements of the tile are known to be.
  uint64_t max_ulp(uint64_t number, const Tile& tile, bool finite) const;

  // The products of a loaded tile's elements, each side scaled first.
  double scaled_dot(uint64_t number, const Tile& tile, std::array<double, 2> scales) const;

  void use(const TileKernels& kernels) { kernels_ = &kernels; }

 private:
  enum class Kind : uint8_t { floating, narrow_integers, wide_integers, complex };

  bool can_survey(uint64_t number) const;
  bool is_float32() const;
  void survey_tile(uint64_t number, PairSums& sums) const;
  void subtract(uint64_t number, Tile& tile) const;
  double complex_dot(uint64_t number, uint64_t size, std::array<double, 2> scales) const;

  const tensor::Tensor& a_;
  const tensor::Tensor& b_;
  Bounds bounds_;
  bool infinities_equal_;
  Kind kind_ = Kind::floating;
  tensor::DType ulp_type_;
  const TileKernels* kernels_;
};

}  // namespace assay::compare
