#include "compare/measuring/divergence.h"

#include <cmath>
#include <limits>
#include <memory>

namespace assay::compare {
namespace {

struct Mass {
  double a = 0;
  double b = 0;
  double surprise = 0;  // sum of b log(b / a)
};

Mass add(const Mass& x, const Mass& y) { return {x.a + y.a, x.b + y.b, x.surprise + y.surprise}; }

double surprise(double a, double b) {
  if (a < 0 || b < 0) return std::numeric_limits<double>::quiet_NaN();
  return b == 0 ? 0 : b * std::log(b / a);
}

}  // namespace

double divergence(const TileSource& source) {
  const auto piece = [&](uint64_t begin, uint64_t end) {
    Mass mass;
    const std::unique_ptr<Tile> tile = std::make_unique<Tile>();
    for (uint64_t number = begin; number < end; ++number) {
      source.load(number, *tile);
      for (uint64_t i = 0; i < tile->size; ++i) {
        const double a = tile->series[0][i];
        const double b = tile->series[1][i];
        mass = add(mass, {a, b, surprise(a, b)});
      }
    }
    return mass;
  };
  const uint64_t tiles = source.tile_count();
  const Mass mass = parallel_reduce(tiles, tiles_a_piece(tiles), Mass(), piece, add);
  if (!(mass.a > 0) || !(mass.b > 0)) return std::numeric_limits<double>::quiet_NaN();
  return mass.surprise / mass.b + std::log(mass.a / mass.b);
}

}  // namespace assay::compare
