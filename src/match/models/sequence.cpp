#include "match/models/sequence.h"

#include <algorithm>
#include <limits>

namespace assay::match {
namespace {

using Pairs = std::vector<std::pair<size_t, size_t>>;

constexpr int64_t kMostEdits = 3000;

// Myers' greedy algorithm: for each number of edits, how far each diagonal (position in a - position in b) reaches.
class EditGraph {
 public:
  EditGraph(std::span<const uint64_t> a, std::span<const uint64_t> b)
      : a_(a), b_(b), size_a_(static_cast<int64_t>(a.size())), size_b_(static_cast<int64_t>(b.size())) {}

  Pairs run() {
    for (int64_t edits = 0; edits <= std::min(kMostEdits, size_a_ + size_b_); ++edits) {
      if (advance(edits)) return trace_back(edits);
    }
    return {};
  }

 private:
  // Reach of a diagonal after `edits` edits; each row of the history holds -edits…edits in steps of two.
  int64_t reach(int64_t edits, int64_t diagonal) const {
    if (edits < 0 || diagonal < -edits || diagonal > edits) return -1;
    return history_[static_cast<size_t>(edits)][static_cast<size_t>((diagonal + edits) / 2)];
  }

  // The start of a diagonal after one more edit: one down from the upper neighbour, or one right from the lower one.
  int64_t start(int64_t edits, int64_t diagonal) const {
    if (edits == 0) return 0;
    const int64_t left = reach(edits - 1, diagonal - 1);
    const int64_t above = reach(edits - 1, diagonal + 1);
    return std::max(left < 0 ? -1 : left + 1, above);
  }

  bool advance(int64_t edits) {
    std::vector<int64_t> row;
    row.reserve(static_cast<size_t>(edits) + 1);
    bool done = false;
    for (int64_t diagonal = -edits; diagonal <= edits; diagonal += 2) {
      int64_t x = start(edits, diagonal);
      if (x > size_a_ || x - diagonal > size_b_) x = kOutside;
      while (x >= 0 && x < size_a_ && x - diagonal < size_b_ && at_a(x) == at_b(x - diagonal)) ++x;
      row.push_back(x);
      done = done || (x == size_a_ && x - diagonal == size_b_);
    }
    history_.push_back(std::move(row));
    return done;
  }

  Pairs trace_back(int64_t edits) const {
    Pairs pairs;
    int64_t x = size_a_;
    int64_t diagonal = size_a_ - size_b_;
    for (; edits >= 0; --edits) {
      const int64_t from = start(edits, diagonal);
      for (; x > from; --x) pairs.emplace_back(x - 1, x - 1 - diagonal);
      const int64_t left = reach(edits - 1, diagonal - 1);
      const bool from_left = left >= 0 && left + 1 == from;
      x = from_left ? from - 1 : from;
      diagonal += from_left ? -1 : 1;
    }
    std::ranges::reverse(pairs);
    return pairs;
  }

  uint64_t at_a(int64_t x) const { return a_[static_cast<size_t>(x)]; }
  uint64_t at_b(int64_t y) const { return b_[static_cast<size_t>(y)]; }

  static constexpr int64_t kOutside = std::numeric_limits<int64_t>::min() / 2;
  std::span<const uint64_t> a_;
  std::span<const uint64_t> b_;
  int64_t size_a_;
  int64_t size_b_;
  std::vector<std::vector<int64_t>> history_;
};

}  // namespace

Pairs common_subsequence(std::span<const uint64_t> a, std::span<const uint64_t> b) { return EditGraph(a, b).run(); }

std::vector<size_t> increasing_subsequence(std::span<const size_t> values) {
  std::vector<size_t> tails;  // by length - 1: where the sequence of that length with the least last value ends
  std::vector<size_t> previous(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto place = std::ranges::lower_bound(tails, values[i], {}, [&](size_t at) { return values[at]; });
    previous[i] = place == tails.begin() ? i : *(place - 1);
    if (place == tails.end())
      tails.push_back(i);
    else
      *place = i;
  }
  std::vector<size_t> result(tails.size());
  size_t at = tails.empty() ? 0 : tails.back();
  for (size_t i = result.size(); i-- > 0; at = previous[at]) result[i] = at;
  return result;
}

}  // namespace assay::match
