#include "compare/statistics.h"

#include <memory>

#include "base/error.h"
#include "compare/measuring/histogram.h"
#include "compare/measuring/selection.h"

namespace assay::compare {
namespace {

Series summarize(const TileSource& source, const TileKernels& kernels) {
  const auto piece = [&](uint64_t begin, uint64_t end) {
    Series series;
    const std::unique_ptr<Tile> tile = std::make_unique<Tile>();
    for (uint64_t number = begin; number < end; ++number) {
      source.load(number, *tile);
      add_tile(*tile, 0, number, kernels, series);
    }
    return series;
  };
  const auto append = [](Series series, const Series& next) {
    series.append(next);
    return series;
  };
  const uint64_t tiles = source.tile_count();
  return parallel_reduce(tiles, tiles_a_piece(tiles), Series(), piece, append);
}

}  // namespace

results::TensorStats statistics(const tensor::Tensor& tensor, const StatisticsOptions& options) {
  const tensor::DTypeKind kind = tensor::kind(tensor.dtype());
  if (kind == tensor::DTypeKind::string || kind == tensor::DTypeKind::complex || kind == tensor::DTypeKind::none) {
    fail(ErrorCode::unsupported, "elements of `{}` are not real numbers", tensor::name(tensor.dtype()));
  }
  const TileKernels& kernels = tile_kernels().front();
  const auto load = [&](uint64_t number, Tile& tile) {
    tile.size = tile_size(tensor.count(), number);
    load_tile(tensor, kernels, number, tile.series[0]);
  };
  const TileSource source = {tensor.count(), 1, load};
  const Series series = summarize(source, kernels);
  results::TensorStats stats = series.stats();
  locate_extremes(source, 0, series, tensor.shape(), stats);
  const bool is_whole = series.count() != 0 && series.nans() == 0;
  if (options.percentiles) {
    std::vector<double> wanted;
    if (is_whole) wanted.assign(std::begin(kPercentiles), std::end(kPercentiles));
    stats.percentiles = as_percentiles(quantiles(source, {wanted}).front());
  }
  if (options.histogram && is_whole) stats.histogram = histograms(source, {Range{stats.least, stats.greatest}}).front();
  return stats;
}

}  // namespace assay::compare
