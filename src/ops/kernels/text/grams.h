#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ops/eval.h"

namespace assay::ops {

// Ids of one sequence behind those that came before it: hashes of grams look back on them.
class GramContext {
 public:
  // `end` is the input with the id that ends texts.
  GramContext(const Eval& node, uint32_t end);

  // Begins a sequence with a row of the past; an empty one: nothing came before.
  void begin(const std::vector<int64_t>& past, uint64_t row);
  void add(std::span<const int64_t> ids) { ids_.insert(ids_.end(), ids.begin(), ids.end()); }
  // Segments of the ids that were added; looking back ends where they change.
  void add_segments(std::span<const int64_t> segments);
  // Segments of the past.
  void begin_segments(std::span<const int64_t> segments) { segments_.assign(segments.begin(), segments.end()); }

  // The id `shift` positions before a position; what an end or another segment cuts off is what is missing.
  int64_t before(uint64_t position, uint64_t shift) const;
  // The ids, and segments, that the next call looks back on, after the first `count` that were added.
  std::span<const int64_t> last(uint64_t count) const { return std::span(ids_).subspan(count, longest_ - 1); }
  std::span<const int64_t> last_segments(uint64_t count) const {
    return std::span(segments_).subspan(count, longest_ - 1);
  }

 private:
  uint64_t longest_;
  std::optional<int64_t> end_;
  int64_t missing_ = 0;
  bool resets_ = false;
  std::vector<int64_t> ids_, segments_;
};

// The hashes of all grams that end at a position, of 2 ids to the most: those of one size for several tables.
class GramHashes {
 public:
  // `offsets` is the input with numbers that are added.
  GramHashes(const Eval& node, uint32_t offsets);
  // Adds those of the first `length` positions.
  void add_to(std::vector<int64_t>& hashes, const GramContext& context, uint64_t length) const;

 private:
  uint64_t longest_, per_size_;
  DType dtype_;
  std::vector<int64_t> factors_, sizes_, offsets_;
};

}  // namespace assay::ops
