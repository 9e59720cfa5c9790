#include "compare/measuring/scaled_sums.h"

#include <cmath>
#include <memory>

#include "base/parallel.h"

namespace assay::compare {
namespace {

constexpr size_t kSeries = 3;

struct Partial {
  std::array<double, kSeries> squares = {};
  double dot = 0;
};

Partial add(Partial sum, const Partial& next) {
  for (size_t s = 0; s < kSeries; ++s) sum.squares[s] += next.squares[s];
  sum.dot += next.dot;
  return sum;
}

}  // namespace

int exponent_of(double greatest) {
  int exponent = 0;
  std::frexp(greatest, &exponent);
  return std::max(exponent, -1000);
}

double SquareSum::root() const { return std::ldexp(std::sqrt(mantissa), exponent); }

double SquareSum::decibels_over(const SquareSum& other) const {
  const double powers = 20 * std::log10(2.0) * (exponent - other.exponent);
  return 10 * std::log10(mantissa / other.mantissa) + powers;
}

ScaledSums scaled_sums(const TileSource& source, const std::array<double, kSeries>& greatest, ScaledDot dot) {
  std::array<int, kSeries> exponents;
  std::array<double, kSeries> scales;
  for (size_t s = 0; s < kSeries; ++s) {
    exponents[s] = exponent_of(greatest[s]);
    scales[s] = std::ldexp(1.0, -exponents[s]);
  }
  const auto piece = [&](uint64_t begin, uint64_t end) {
    Partial partial;
    const std::unique_ptr<Tile> tile = std::make_unique<Tile>();
    for (uint64_t number = begin; number < end; ++number) {
      source.load(number, *tile);
      for (size_t s = 0; s < kSeries; ++s) {
        for (const double x : tile->elements(s)) partial.squares[s] += (x * scales[s]) * (x * scales[s]);
      }
      partial.dot += dot(number, *tile, {scales[0], scales[1]});
    }
    return partial;
  };
  const uint64_t tiles = source.tile_count();
  const Partial sum = parallel_reduce(tiles, tiles_a_piece(tiles), Partial(), piece, add);
  ScaledSums result;
  for (size_t s = 0; s < kSeries; ++s) result.squares[s] = {sum.squares[s], exponents[s]};
  result.dot = sum.dot;
  return result;
}

}  // namespace assay::compare
