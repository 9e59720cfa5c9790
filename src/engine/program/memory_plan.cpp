#include "engine/program/memory_plan.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

namespace assay::engine {
namespace {

// Free pieces of the arena, which grows at its end.
class FreeList {
 public:
  // The smallest piece that is large enough, otherwise the end.
  uint64_t take(uint64_t size) {
    const auto found = by_size_.lower_bound({size, 0});
    if (found == by_size_.end()) return grow(size);
    const auto [piece, offset] = *found;
    remove(offset, piece);
    if (piece > size) add(offset + size, piece - size);
    return offset;
  }

  void give(uint64_t offset, uint64_t size) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + size) {
      size += next->second;
      remove(next->first, next->second);
      next = by_offset_.lower_bound(offset);
    }
    if (next != by_offset_.begin()) {
      const auto [before, before_size] = *std::prev(next);
      if (before + before_size == offset) {
        remove(before, before_size);
        offset = before;
        size += before_size;
      }
    }
    add(offset, size);
  }

  uint64_t end() const { return end_; }

 private:
  uint64_t grow(uint64_t size) {
    uint64_t offset = end_;
    if (!by_offset_.empty()) {  // a free piece at the end grows with it
      const auto [last, last_size] = *by_offset_.rbegin();
      if (last + last_size == end_) {
        remove(last, last_size);
        offset = last;
      }
    }
    end_ = offset + size;
    return offset;
  }
  void add(uint64_t offset, uint64_t size) {
    by_offset_.emplace(offset, size);
    by_size_.emplace(size, offset);
  }
  void remove(uint64_t offset, uint64_t size) {
    by_offset_.erase(offset);
    by_size_.erase({size, offset});
  }

  std::map<uint64_t, uint64_t> by_offset_;
  std::set<std::pair<uint64_t, uint64_t>> by_size_;
  uint64_t end_ = 0;
};

}  // namespace

uint64_t plan_memory(std::vector<Lifetime>& lifetimes, uint64_t alignment) {
  const auto aligned = [&](uint64_t size) { return (size + alignment - 1) / alignment * alignment; };
  std::vector<size_t> starts(lifetimes.size());
  std::iota(starts.begin(), starts.end(), size_t{0});
  std::vector<size_t> ends = starts;
  std::ranges::stable_sort(starts, {}, [&](size_t i) { return lifetimes[i].first; });
  std::ranges::stable_sort(ends, {}, [&](size_t i) { return lifetimes[i].last; });
  FreeList free;
  auto ended = ends.begin();
  for (const size_t i : starts) {
    for (; lifetimes[*ended].last < lifetimes[i].first; ++ended) {
      const Lifetime& dead = lifetimes[*ended];
      if (dead.size_bytes != 0) free.give(dead.offset, aligned(dead.size_bytes));
    }
    Lifetime& item = lifetimes[i];
    if (item.size_bytes != 0) item.offset = free.take(aligned(item.size_bytes));
  }
  return free.end();
}

}  // namespace assay::engine
