#include "compare/sieve.h"

#include <algorithm>
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

void sieve_each(std::span<const double> elements, const Brackets& brackets, BracketCounts& counts, int64_t* marks) {
  for (size_t b = 0; b < kBrackets; ++b) {
    counts[b] = {};
    for (size_t i = 0; i < elements.size(); ++i) {
      const bool inside = elements[i] >= brackets[b].low && elements[i] <= brackets[b].high;
      counts[b].below += elements[i] < brackets[b].low;
      counts[b].inside += inside;
      marks[i] |= inside && brackets[b].low < brackets[b].high;
    }
  }
}

// Few are marked: what is not is skipped by the block.
void keep_marked(std::span<const double> elements, const int64_t* marks, std::vector<double>& kept) {
  constexpr size_t kBlock = 8;
  double chosen[kTile + 1];
  size_t count = 0;
  for (size_t begin = 0; begin < elements.size(); begin += kBlock) {
    int64_t any = 0;
    for (size_t i = begin; i < begin + kBlock; ++i) any |= marks[i];
    if (any == 0) continue;
    const size_t end = std::min(begin + kBlock, elements.size());
    for (size_t i = begin; i < end; ++i) {
      chosen[count] = elements[i];
      count += marks[i] != 0;
    }
  }
  kept.insert(kept.end(), chosen, chosen + count);
}

void sift_tile(const Tile& tile, size_t which, std::span<const Bracket> brackets, bool keep, Sifted& found) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  alignas(64) int64_t marks[kTile] = {};
  for (size_t first = 0; first < brackets.size(); first += kBrackets) {
    const size_t some = std::min<size_t>(kBrackets, brackets.size() - first);
    Brackets group;
    std::ranges::fill(group, Bracket{kInfinity, -kInfinity});
    std::ranges::copy(brackets.subspan(first, some), group);
    BracketCounts counts;
    if (tile.size == kTile) {
      tile_kernels().front().sieve(tile.series[which], group, counts, marks);
    } else {
      sieve_each(tile.elements(which), group, counts, marks);
    }
    for (size_t b = 0; b < some; ++b) {
      found.counts[first + b].below += counts[b].below;
      found.counts[first + b].inside += counts[b].inside;
    }
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
