#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/large_memory.h"
#include "compare/measuring/code_groups.h"
#include "compare/measuring/code_ranks.h"

namespace assay::compare {

// A growing row of codes.
class CodeList {
 public:
  CodeList() = default;
  // Begins in memory of others.
  explicit CodeList(std::span<float> room) : codes_(room.data()), room_(room.size()) {}

  // After the last code, where kPackedRoom is available.
  float* end();
  void add(uint64_t count) { size_ += count; }
  std::span<const float> codes() const { return {codes_, size_}; }

 private:
  std::unique_ptr<float[]> own_;  // once the memory of others is full
  float* codes_ = nullptr;
  size_t size_ = 0;
  size_t room_ = 0;
};

// The numbering of tiles: in pieces, each processed by one thread in order.
struct Pieces {
  uint64_t tiles = 0;  // of each but the last
  uint64_t count = 0;
};

// Finds some places of the sorted order of one series in the pass that sums up.
class SeriesGuess {
 public:
  SeriesGuess() = default;
  // `places`, of a series of `count`, are ascending; `sample` is of its codes, as CodeSieve takes it.
  SeriesGuess(const std::vector<float>& sample, size_t alike, uint64_t count, std::vector<uint64_t> places,
              const Pieces& pieces);

  // The codes of the next full tile of a piece. NaN is skipped. `is_exact`: the elements are their codes.
  void add(const float* codes, bool is_exact, uint64_t piece);
  // The results, by place.
  std::map<uint64_t, float> codes() const;
  // The elements at these places, where they may differ from their codes, as groups that are not loaded yet.
  std::vector<CodeGroup> groups(const std::map<uint64_t, float>& codes) const;

 private:
  struct TileEnd {
    uint32_t is_exact : 1 = 0;
    uint32_t kept : 31 = 0;  // codes of the piece up to this tile
  };
  struct Part {
    std::vector<CodeCount> counts;  // of the ranges
    CodeList kept;
    std::vector<TileEnd> tiles;
    bool is_exact = true;
  };

  void make_room(double kept_share);
  bool is_full(const Part& part) const { return part.kept.codes().size() > pieces_.tiles * kTile / 4; }
  std::vector<CodeCount> counts() const;
  void add_tiles(const Part& part, float code, CodeGroup& group) const;
  CodeGroup kept_group(float code, uint64_t place, uint64_t kept_place) const;
  CodeGroup counted_group(float code, uint64_t below) const;

  Pieces pieces_;
  std::vector<uint64_t> places_;
  CodeSieve sieve_;
  LargeMemory<float> room_;  // for the codes that each part is expected to keep
  std::vector<Part> parts_;
};

}  // namespace assay::compare
