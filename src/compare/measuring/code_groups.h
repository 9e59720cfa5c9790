#pragma once

#include <array>
#include <optional>
#include <vector>

#include "compare/measuring/tile.h"

namespace assay::compare {

// The elements of a series that have one code.
class CodeGroup {
 public:
  // `below`: how many elements of the series have a lower code.
  CodeGroup(float code, uint64_t below) : code_(code), below_(below) {}

  float code() const { return code_; }
  // Elements equal to the code.
  void add_equal(uint64_t count) { equal_ += count; }
  // A tile to load; in ascending order.
  void add_tile(uint64_t number) { tiles_.push_back(number); }
  const std::vector<uint64_t>& tiles() const { return tiles_; }

  // The group's elements in a loaded tile.
  void load(const Tile& tile, size_t series);
  // The elements loaded by another group of the same code.
  void append(const CodeGroup& loaded);
  // The element at a place of the series' sorted order, which is in this group, once all is loaded. Nothing if too many
  // elements (a few million) differ from the code.
  std::optional<double> at(uint64_t place) const;

 private:
  float code_;
  uint64_t below_;
  uint64_t equal_ = 0;
  std::vector<double> others_;  // up to the limit
  std::vector<uint64_t> tiles_;
};

// The groups of each series.
using CodeGroups = std::array<std::vector<CodeGroup>, kMostSeries>;

// Loads the tiles of all groups.
void load_groups(const TileSource& source, CodeGroups& groups);

}  // namespace assay::compare
