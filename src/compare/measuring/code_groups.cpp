#include "compare/measuring/code_groups.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "compare/measuring/code_ranks.h"

namespace assay::compare {
namespace {

constexpr size_t kMostOthers = size_t{1} << 22;
constexpr uint64_t kGrain = 64;  // tiles that a thread loads at a time

// Loads a tile into those of the groups that need it.
void load_tile(const Tile& tile, uint64_t number, const CodeGroups& groups, CodeGroups& loaded) {
  for (size_t s = 0; s < kMostSeries; ++s) {
    for (size_t g = 0; g < groups[s].size(); ++g) {
      if (std::ranges::binary_search(groups[s][g].tiles(), number)) loaded[s][g].load(tile, s);
    }
  }
}

CodeGroups append(CodeGroups groups, const CodeGroups& loaded) {
  for (size_t s = 0; s < kMostSeries; ++s) {
    for (size_t g = 0; g < groups[s].size(); ++g) groups[s][g].append(loaded[s][g]);
  }
  return groups;
}

}  // namespace

void CodeGroup::load(const Tile& tile, size_t series) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::span<const double> elements = tile.elements(series);
  const Bracket around = {std::nextafter(code_, -kInfinity), std::nextafter(code_, kInfinity)};
  TileBits inside;
  tile_kernels().front().sieve(tile.series[series], around, inside);
  for (size_t w = 0; w < std::size(inside); ++w) {
    for (uint64_t bits = inside[w]; bits != 0; bits &= bits - 1) {
      const size_t place = 64 * w + static_cast<size_t>(std::countr_zero(bits));
      if (place >= elements.size() || code_of(elements[place]) != code_) continue;
      if (elements[place] == double{code_})
        ++equal_;
      else if (others_.size() <= kMostOthers)
        others_.push_back(elements[place]);
    }
  }
}

void CodeGroup::append(const CodeGroup& loaded) {
  equal_ += loaded.equal_;
  if (others_.size() <= kMostOthers) others_.insert(others_.end(), loaded.others_.begin(), loaded.others_.end());
}

std::optional<double> CodeGroup::at(uint64_t place) const {
  if (others_.size() > kMostOthers) return std::nullopt;
  std::vector<double> others = others_;
  const auto less = static_cast<uint64_t>(std::ranges::count_if(others, [&](double x) { return x < double{code_}; }));
  const uint64_t index = place - below_;
  if (index >= less && index < less + equal_) return code_;
  const uint64_t rank = index < less ? index : index - equal_;
  if (rank >= others.size()) return std::nullopt;  // the place is not in this group
  const auto other = others.begin() + static_cast<ptrdiff_t>(rank);
  std::nth_element(others.begin(), other, others.end());
  return *other;
}

void load_groups(const TileSource& source, CodeGroups& groups) {
  std::vector<uint64_t> tiles;
  CodeGroups empty;
  for (size_t s = 0; s < kMostSeries; ++s) {
    for (const CodeGroup& group : groups[s]) {
      tiles.insert(tiles.end(), group.tiles().begin(), group.tiles().end());
      empty[s].emplace_back(group.code(), 0);
    }
  }
  std::ranges::sort(tiles);
  tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
  const auto load = [&](uint64_t begin, uint64_t end) {
    CodeGroups loaded = empty;
    const std::unique_ptr<Tile> tile = std::make_unique<Tile>();
    for (uint64_t i = begin; i < end; ++i) {
      source.load(tiles[i], *tile);
      load_tile(*tile, tiles[i], groups, loaded);
    }
    return loaded;
  };
  groups = append(std::move(groups), parallel_reduce(tiles.size(), kGrain, empty, load, append));
}

}  // namespace assay::compare
