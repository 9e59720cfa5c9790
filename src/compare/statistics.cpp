#include "compare/statistics.h"

#include "base/error.h"
#include "compare/measuring/histogram.h"
#include "compare/measuring/quantile_guess.h"
#include "compare/measuring/selection.h"
#include "compare/measuring/series_stats.h"

namespace assay::compare {
namespace {

void guess_tile(const tensor::Tensor& tensor, const Tile& tile, uint64_t number, QuantileGuess& guess) {
  alignas(64) float codes[kTile];
  tile_kernels().front().narrow(tile.series[0], codes);
  std::fill(codes + tile.size, codes + kTile, std::numeric_limits<float>::quiet_NaN());
  guess.add({{codes}, {has_exact_codes(tensor)}}, number);
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
  std::vector<double> wanted;
  if (options.percentiles) wanted.assign(std::begin(kPercentiles), std::end(kPercentiles));
  QuantileGuess guess(source, {wanted});
  const auto see = [&](uint64_t number, const Tile& tile) {
    if (!guess.is_empty()) guess_tile(tensor, tile, number, guess);
  };
  const Series series = add_up(source, 0, see);
  results::TensorStats stats = series_stats(source, 0, series, tensor.shape());
  const bool is_whole = series.count() != 0 && series.nans() == 0;
  if (options.percentiles) {
    if (!is_whole) wanted.clear();
    stats.percentiles = as_percentiles(find_quantiles(source, guess, {wanted}).front());
  }
  if (options.histogram && is_whole) stats.histogram = histograms(source, {Range{stats.least, stats.greatest}}).front();
  return stats;
}

}  // namespace assay::compare
