#include "compare/measure.h"

#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "base/error.h"
#include "compare/measuring/divergence.h"
#include "compare/measuring/histogram.h"
#include "compare/measuring/pair_reader.h"
#include "compare/measuring/scaled_sums.h"
#include "compare/measuring/selection.h"
#include "compare/measuring/series_stats.h"
#include "tensor/index.h"

namespace assay::compare {
namespace {

using results::PairMetrics;
using Series4 = std::array<Series, kMostSeries>;

// The sums of the one pass.
struct Sums {
  Series4 series;
  double dot = 0;
  uint64_t failed = 0;
  uint64_t first_failed_tile = kNoTile;
  uint64_t max_ulp = 0;

  void append(const Sums& next) {
    for (size_t s = 0; s < kMostSeries; ++s) series[s].append(next.series[s]);
    dot += next.dot;
    failed += next.failed;
    first_failed_tile = std::min(first_failed_tile, next.first_failed_tile);
    max_ulp = std::max(max_ulp, next.max_ulp);
  }
};

void add_relation(uint64_t number, const TileRelation& relation, Sums& sums) {
  sums.dot += relation.dot;
  sums.failed += relation.failed;
  if (relation.failed != 0) sums.first_failed_tile = std::min(sums.first_failed_tile, number);
}

void add_loaded(const PairReader& reader, uint64_t number, Tile& tile, Sums& sums) {
  const TileRelation relation = reader.load(number, tile);
  bool finite = true;
  for (size_t s = 0; s < kMostSeries; ++s) finite &= add_tile(tile, s, number, reader.kernels(), sums.series[s]);
  add_relation(number, relation, sums);
  sums.max_ulp = std::max(sums.max_ulp, reader.max_ulp(number, tile, finite));
}

// A series whose squares cancelled is summed once more.
void add_surveyed(const PairReader& reader, uint64_t number, const PairSums& of_tile, Tile& tile, Sums& sums) {
  bool is_loaded = false;
  for (size_t s = 0; s < kMostSeries; ++s) {
    if (is_exact(of_tile.series[s])) {
      sums.series[s].add(number, of_tile.series[s]);
      continue;
    }
    if (!is_loaded) reader.load(number, tile);
    is_loaded = true;
    sums.series[s].add_each(number, tile.elements(s));
  }
  add_relation(number, of_tile.relation, sums);
}

// A tile that was not surveyed, or whose codes could not be had with it.
void guess_loaded(const Tile& tile, uint64_t number, const PairReader& reader, QuantileGuess& guess) {
  alignas(64) float codes[kMostSeries][kTile];
  for (size_t s = 0; s < kMostSeries; ++s) {
    reader.kernels().narrow(tile.series[s], codes[s]);
    std::fill(codes[s] + tile.size, codes[s] + kTile, std::numeric_limits<float>::quiet_NaN());
  }
  guess.add({{codes[0], codes[1], codes[2], codes[3]}, reader.exact_codes()}, number);
}

Sums add_up(const PairReader& reader, uint64_t begin, uint64_t end, QuantileGuess& guess) {
  Sums sums;
  const std::unique_ptr<Tile> tile = std::make_unique<Tile>();
  const std::unique_ptr<PairCodes> codes = guess.is_empty() ? nullptr : std::make_unique<PairCodes>();
  PairSums of_tile;
  uint64_t max_ulp = 0;
  for (uint64_t number = begin; number < end; ++number) {
    if (!reader.survey(number, of_tile, max_ulp, codes.get())) {
      add_loaded(reader, number, *tile, sums);
      if (codes) guess_loaded(*tile, number, reader, guess);
      continue;
    }
    if (codes && codes->tile.of[0] != nullptr) {
      guess.add(codes->tile, number);
    } else if (codes) {
      reader.load(number, *tile);
      guess_loaded(*tile, number, reader, guess);
    }
    add_surveyed(reader, number, of_tile, *tile, sums);
    sums.max_ulp = std::max(sums.max_ulp, max_ulp);
  }
  return sums;
}

Sums add_up(const PairReader& reader, uint64_t tiles, QuantileGuess& guess) {
  const auto piece = [&](uint64_t begin, uint64_t end) { return add_up(reader, begin, end, guess); };
  const auto append = [](Sums sums, const Sums& next) {
    sums.append(next);
    return sums;
  };
  return parallel_reduce(tiles, tiles_a_piece(tiles), Sums(), piece, append);
}

std::vector<int64_t> first_failed(const TileSource& source, uint64_t number, const MeasureOptions& options,
                                  const tensor::Shape& shape) {
  const std::unique_ptr<Tile> tile = std::make_unique<Tile>();
  source.load(number, *tile);
  uint64_t place = 0;
  while (tile->series[kAbsolute][place] <= options.atol || tile->series[kRelative][place] <= options.rtol) ++place;
  return tensor::index_of(number * kTile + place, shape);
}

// True if a sum of squares has lost what it was to hold.
bool lost_squares(const Series& series) {
  constexpr double kLeast = 1e-280;  // smaller sums may lack squares that are subnormal or 0
  const double squares = series.sum_of_squares();
  return series.all_finite() && (!std::isfinite(squares) || (squares < kLeast && series.greatest_magnitude() != 0));
}

ScaledSums distances(const Sums& sums, const PairReader& reader, const TileSource& source) {
  const std::span<const Series, 3> series = std::span(sums.series).first<3>();
  const bool can_scale = std::ranges::all_of(series, [](const Series& one) { return one.all_finite(); });
  if (source.count == 0 || !can_scale || std::ranges::none_of(series, lost_squares)) {
    ScaledSums plain{.dot = sums.dot};
    for (size_t s = 0; s < series.size(); ++s) plain.squares[s].mantissa = series[s].sum_of_squares();
    return plain;
  }
  const auto dot = [&](uint64_t number, const Tile& tile, std::array<double, 2> scales) {
    return reader.scaled_dot(number, tile, scales);
  };
  return scaled_sums(source, {series[0].greatest_magnitude(), series[1].greatest_magnitude(), series[2].greatest()},
                     dot);
}

// The cosine of the angle between two arrays; the same array twice gives 1 in spite of rounding.
double cosine(const ScaledSums& sums) {
  const double squares_a = sums.squares[kSideA].mantissa;
  const double squares_b = sums.squares[kSideB].mantissa;
  if (std::isnan(squares_a) || std::isnan(squares_b)) return std::numeric_limits<double>::quiet_NaN();
  if (squares_a == 0 || squares_b == 0) return squares_a == squares_b ? 1 : 0;
  if (sums.squares[kAbsolute].mantissa == 0) return 1;
  const double cosine = sums.dot / std::sqrt(squares_a) / std::sqrt(squares_b);
  return std::isnan(cosine) ? cosine : std::clamp(cosine, -1.0, 1.0);
}

void set_distances(const ScaledSums& sums, bool b_is_signal, PairMetrics& metrics) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const SquareSum& noise = sums.squares[kAbsolute];
  metrics.l2 = noise.root();
  metrics.cosine = cosine(sums);
  metrics.psnr_db = metrics.snr_db = kInfinity;
  if (noise.mantissa == 0) return;
  const double greatest = b_is_signal ? metrics.b.greatest : metrics.a.greatest;
  const double peak = greatest <= 0 ? 1 : greatest;
  const SquareSum mean_noise = {noise.mantissa / static_cast<double>(metrics.count), noise.exponent};
  metrics.psnr_db = 20 * std::log10(peak) - mean_noise.decibels_over({1, 0});
  metrics.snr_db = sums.squares[b_is_signal ? kSideB : kSideA].decibels_over(noise);
}

bool is_whole(const results::TensorStats& stats) { return stats.count != 0 && stats.nan_count == 0; }

using Stats4 = std::array<results::TensorStats*, kMostSeries>;

using Quantiles = std::vector<std::vector<double>>;  // by series

Quantiles wanted_quantiles(const MeasureOptions& options) {
  Quantiles wanted(kMostSeries);
  for (size_t s = 0; s < kMostSeries; ++s) {
    if (options.percentiles) wanted[s].assign(std::begin(kPercentiles), std::end(kPercentiles));
    if (options.quantile && s >= kAbsolute) wanted[s].push_back(*options.quantile);
  }
  return wanted;
}

void set_quantiles(const TileSource& source, const QuantileGuess& guess, const MeasureOptions& options,
                   const Stats4& stats, PairMetrics& metrics) {
  Quantiles wanted = wanted_quantiles(options);
  for (size_t s = 0; s < kMostSeries; ++s) {
    if (!is_whole(*stats[s])) wanted[s].clear();
  }
  const Quantiles found = find_quantiles(source, guess, wanted);
  for (size_t s = 0; options.percentiles && s < kMostSeries; ++s) stats[s]->percentiles = as_percentiles(found[s]);
  if (!options.quantile) return;
  const auto last = [](const std::vector<double>& values) {
    return values.empty() ? std::numeric_limits<double>::quiet_NaN() : values.back();
  };
  metrics.quantile_absolute = last(found[kAbsolute]);
  metrics.quantile_relative = last(found[kRelative]);
}

void set_histograms(const TileSource& source, const Stats4& stats) {
  std::vector<std::optional<Range>> ranges(kMostSeries);
  for (size_t s = kAbsolute; s < kMostSeries; ++s) {
    if (is_whole(*stats[s])) ranges[s] = {stats[s]->least, stats[s]->greatest};
  }
  if (is_whole(*stats[kSideA]) && is_whole(*stats[kSideB])) {
    ranges[kSideA] = {std::min(stats[kSideA]->least, stats[kSideB]->least),
                      std::max(stats[kSideA]->greatest, stats[kSideB]->greatest)};
    ranges[kSideB] = ranges[kSideA];
  }
  std::vector<std::optional<results::Histogram>> found = histograms(source, ranges);
  for (size_t s = 0; s < kMostSeries; ++s) stats[s]->histogram = std::move(found[s]);
}

PairMetrics measure_strings(const tensor::Tensor& a, const tensor::Tensor& b) {
  PairMetrics metrics;
  metrics.count = a.count();
  for (uint64_t i = 0; i < a.count(); ++i) {
    if (a.strings()[i] == b.strings()[i]) continue;
    if (metrics.failed_count++ == 0) metrics.first_failed_at = tensor::index_of(i, a.shape());
  }
  metrics.worst_at = metrics.first_failed_at;
  return metrics;
}

PairMetrics measure_numbers(const PairReader& reader, const tensor::Tensor& a, const MeasureOptions& options) {
  const auto load = [&](uint64_t number, Tile& tile) { reader.load(number, tile); };
  const TileSource source = {a.count(), kMostSeries, load};
  QuantileGuess guess(source, wanted_quantiles(options));
  const Sums sums = add_up(reader, source.tile_count(), guess);
  PairMetrics metrics;
  metrics.count = a.count();
  metrics.max_ulp = sums.max_ulp;
  metrics.failed_count = sums.failed;
  const Stats4 stats = {&metrics.a, &metrics.b, &metrics.absolute, &metrics.relative};
  for (size_t s = 0; s < kMostSeries; ++s) {
    *stats[s] = series_stats(source, s, sums.series[s], a.shape());
    if (s >= kAbsolute) stats[s]->mean_magnitude = stats[s]->mean;
  }
  if (a.count() != 0) metrics.worst_at = metrics.absolute.greatest_at;
  if (sums.failed != 0) metrics.first_failed_at = first_failed(source, sums.first_failed_tile, options, a.shape());
  set_distances(distances(sums, reader, source), options.b_is_signal, metrics);
  if (options.percentiles || options.quantile) set_quantiles(source, guess, options, stats, metrics);
  if (options.divergence) metrics.divergence = divergence(source);
  return metrics;
}

}  // namespace

void add_histograms(const tensor::Tensor& a, const tensor::Tensor& b, const MeasureOptions& options,
                    PairMetrics& metrics) {
  const PairReader reader(a, b, {options.atol, options.rtol}, options.infinities_equal);
  const auto load = [&](uint64_t number, Tile& tile) { reader.load(number, tile); };
  set_histograms({a.count(), kMostSeries, load}, {&metrics.a, &metrics.b, &metrics.absolute, &metrics.relative});
}

PairMetrics measure(const tensor::Tensor& a, const tensor::Tensor& b, const MeasureOptions& options) {
  if (a.dtype() == tensor::DType::string && b.dtype() == tensor::DType::string) return measure_strings(a, b);
  const PairReader reader(a, b, {options.atol, options.rtol}, options.infinities_equal);
  PairMetrics metrics = measure_numbers(reader, a, options);
  if (options.histograms) add_histograms(a, b, options, metrics);
  return metrics;
}

}  // namespace assay::compare
