#include "compare/measuring/histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>

namespace assay::compare {
namespace {

constexpr size_t kBins = kInnerEdges + 1;
using Counts = std::array<std::array<uint64_t, kBins>, kMostSeries>;

std::vector<double> make_edges(Range range) {
  if (range.least == range.greatest) range = {range.least - 0.5, range.greatest + 0.5};
  const double step = (range.greatest - range.least) / kBins;
  if (!std::isfinite(step) || !std::isfinite(1 / step)) return {};
  std::vector<double> edges;
  for (size_t i = 0; i < kBins; ++i) edges.push_back(range.least + static_cast<double>(i) * step);
  edges.push_back(range.greatest);
  const bool have_width = std::ranges::adjacent_find(edges, std::greater_equal<>()) == edges.end();
  return have_width ? edges : std::vector<double>();
}

// Adds the elements between each edge and the next.
void count_tile(const Tile& tile, size_t which, const std::vector<double>& edges, std::array<uint64_t, kBins>& counts) {
  InnerEdges inner;
  std::copy_n(edges.begin() + 1, kInnerEdges, inner);
  EdgeCounts from = {};
  if (tile.size == kTile) {
    tile_kernels().front().count_from(tile.series[which], inner, from);
  } else {
    for (const double x : tile.elements(which)) {
      for (size_t e = 0; e < kInnerEdges; ++e) from[e] += x >= inner[e];
    }
  }
  counts[0] += tile.size - from[0];
  for (size_t bin = 1; bin < kInnerEdges; ++bin) counts[bin] += from[bin - 1] - from[bin];
  counts[kInnerEdges] += from[kInnerEdges - 1];
}

Counts count_tiles(const TileSource& source, const std::vector<std::vector<double>>& edges, uint64_t begin,
                   uint64_t end) {
  Counts counts = {};
  const std::unique_ptr<Tile> tile = std::make_unique<Tile>();
  for (uint64_t number = begin; number < end; ++number) {
    source.load(number, *tile);
    for (size_t s = 0; s < edges.size(); ++s) {
      if (edges[s].empty()) continue;
      count_tile(*tile, s, edges[s], counts[s]);
    }
  }
  return counts;
}

Counts add(Counts sum, const Counts& counts) {
  for (size_t s = 0; s < kMostSeries; ++s) {
    for (size_t bin = 0; bin < kBins; ++bin) sum[s][bin] += counts[s][bin];
  }
  return sum;
}

}  // namespace

std::vector<std::optional<results::Histogram>> histograms(const TileSource& source,
                                                          const std::vector<std::optional<Range>>& ranges) {
  std::vector<std::vector<double>> edges;
  for (const std::optional<Range>& range : ranges) edges.push_back(range ? make_edges(*range) : std::vector<double>());
  const auto count_piece = [&](uint64_t begin, uint64_t end) { return count_tiles(source, edges, begin, end); };
  const uint64_t tiles = source.tile_count();
  const Counts counts = parallel_reduce(tiles, tiles_a_piece(tiles), Counts{}, count_piece, add);
  std::vector<std::optional<results::Histogram>> found(ranges.size());
  for (size_t s = 0; s < ranges.size(); ++s) {
    if (!edges[s].empty()) found[s] = results::Histogram{edges[s], {counts[s].begin(), counts[s].end()}};
  }
  return found;
}

}  // namespace assay::compare
