#include "compare/measuring/sieve.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>

namespace assay::compare {
namespace {

using SiftedSeries = std::vector<Sifted>;

// Splits tiles 0, step, 2 step, ... into one run for each thread; fn(tile number, tile, what its thread found).
SiftedSeries gather(const TileSource& source, uint64_t step, const SiftedSeries& start,
                    FunctionRef<void(uint64_t number, const Tile&, SiftedSeries&)> fn) {
  const uint64_t visits = (source.tile_count() + step - 1) / step;
  const uint64_t threads = thread_count();
  const uint64_t run = (visits + threads - 1) / threads;
  std::vector<SiftedSeries> found(threads, start);
  parallel_for(threads, 1, [&](uint64_t thread, uint64_t) {
    const std::unique_ptr<Tile> tile = std::make_unique<Tile>();
    const uint64_t end = std::min(visits, (thread + 1) * run);
    for (uint64_t visit = thread * run; visit < end; ++visit) {
      source.load(visit * step, *tile);
      fn(visit * step, *tile, found[thread]);
    }
  });
  for (uint64_t thread = 1; thread < threads; ++thread) {
    for (size_t s = 0; s < start.size(); ++s) {
      Sifted& sum = found[0][s];
      Sifted& part = found[thread][s];
      for (size_t b = 0; b < sum.counts.size(); ++b) {
        sum.counts[b].below += part.counts[b].below;
        sum.counts[b].inside += part.counts[b].inside;
      }
      sum.kept.insert(sum.kept.end(), part.kept.begin(), part.kept.end());
      part.kept = {};
    }
  }
  return std::move(found[0]);
}

BracketCount sieve_each(std::span<const double> elements, const Bracket& bracket, TileBits& inside) {
  BracketCount count;
  std::ranges::fill(inside, 0);
  for (size_t i = 0; i < elements.size(); ++i) {
    const bool is_inside = elements[i] >= bracket.low && elements[i] <= bracket.high;
    count.below += elements[i] < bracket.low;
    count.inside += is_inside;
    inside[i / 64] |= uint64_t{is_inside} << i % 64;
  }
  return count;
}

void keep_marked(std::span<const double> elements, const TileBits& marks, std::vector<double>& kept) {
  for (size_t w = 0; w < std::size(marks); ++w) {
    for (uint64_t bits = marks[w]; bits != 0; bits &= bits - 1) {
      kept.push_back(elements[64 * w + static_cast<size_t>(std::countr_zero(bits))]);
    }
  }
}

// An element that is in several brackets is kept once.
void sift_tile(const Tile& tile, size_t which, std::span<const Bracket> brackets, bool keep, Sifted& found) {
  TileBits marks = {};
  for (size_t b = 0; b < brackets.size(); ++b) {
    TileBits inside;
    const BracketCount count = tile.size == kTile
                                   ? tile_kernels().front().sieve(tile.series[which], brackets[b], inside)
                                   : sieve_each(tile.elements(which), brackets[b], inside);
    found.counts[b].below += count.below;
    found.counts[b].inside += count.inside;
    const bool is_point = brackets[b].low == brackets[b].high;
    for (size_t w = 0; w < std::size(marks) && !is_point; ++w) marks[w] |= inside[w];
  }
  if (keep) keep_marked(tile.elements(which), marks, found.kept);
}

}  // namespace

std::vector<Sifted> sieve(const TileSource& source, const std::vector<std::vector<Bracket>>& brackets,
                          uint64_t stride) {
  SiftedSeries start(brackets.size());
  for (size_t s = 0; s < brackets.size(); ++s) start[s].counts.resize(brackets[s].size());
  return gather(source, 1, start, [&](uint64_t number, const Tile& tile, SiftedSeries& found) {
    for (size_t s = 0; s < brackets.size(); ++s) {
      if (!brackets[s].empty()) sift_tile(tile, s, brackets[s], number % stride == 0, found[s]);
    }
  });
}

std::vector<Sifted> sample(const TileSource& source, const std::vector<bool>& wanted, uint64_t stride) {
  return gather(source, stride, SiftedSeries(wanted.size()), [&](uint64_t, const Tile& tile, SiftedSeries& found) {
    for (size_t s = 0; s < wanted.size(); ++s) {
      const std::span<const double> elements = tile.elements(s);
      if (wanted[s]) found[s].kept.insert(found[s].kept.end(), elements.begin(), elements.end());
    }
  });
}

}  // namespace assay::compare
