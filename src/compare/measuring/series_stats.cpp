#include "compare/measuring/series_stats.h"

#include <cmath>
#include <memory>

#include "compare/measuring/scaled_sums.h"
#include "tensor/index.h"

namespace assay::compare {
namespace {

// Finds the first element that equals `x`, or the first NaN if x is NaN.
uint64_t place_of(double x, std::span<const double> elements) {
  const auto is_it = [x](double element) { return element == x || (std::isnan(x) && std::isnan(element)); };
  return static_cast<uint64_t>(std::ranges::find_if(elements, is_it) - elements.begin());
}

void locate_extremes(const TileSource& source, size_t which, const Series& series, const tensor::Shape& shape,
                     results::TensorStats& stats) {
  const std::unique_ptr<Tile> tile = std::make_unique<Tile>();
  const auto locate = [&](uint64_t number, double& x) {
    source.load(number, *tile);
    const uint64_t place = place_of(x, tile->elements(which));
    x = tile->series[which][place];
    return tensor::index_of(number * kTile + place, shape);
  };
  stats.least_at = locate(series.least_tile(), stats.least);
  stats.greatest_at = locate(series.greatest_tile(), stats.greatest);
}

// Sums up scaled elements, and scales the moments back.
void set_moments(const TileSource& source, size_t which, double greatest_magnitude, results::TensorStats& stats) {
  const int exponent = exponent_of(greatest_magnitude);
  const double scale = std::ldexp(1.0, -exponent);
  const auto load = [&](uint64_t number, Tile& tile) {
    source.load(number, tile);
    for (double& x : tile.series[which]) x *= scale;
  };
  const TileSource scaled = {source.count, source.series_count, load};
  const results::TensorStats found = add_up(scaled, which, [](uint64_t, const Tile&) {}).stats();
  stats.mean = std::ldexp(found.mean, exponent);
  stats.mean_magnitude = std::ldexp(found.mean_magnitude, exponent);
  stats.standard_deviation = std::ldexp(found.standard_deviation, exponent);
  stats.variance = std::ldexp(found.variance, 2 * exponent);
}

}  // namespace

results::TensorStats series_stats(const TileSource& source, size_t which, const Series& series,
                                  const tensor::Shape& shape) {
  results::TensorStats stats = series.stats();
  if (series.left_range()) set_moments(source, which, series.greatest_magnitude(), stats);
  if (series.count() != 0) locate_extremes(source, which, series, shape, stats);
  return stats;
}

}  // namespace assay::compare
