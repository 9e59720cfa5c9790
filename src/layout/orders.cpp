#include <algorithm>

#include "layout/vertices.h"

namespace assay::layout {
namespace {

constexpr int kSweeps = 4;

class Ordering {
 public:
  explicit Ordering(Vertices& vertices) : v_(vertices), places_(vertices.size()) { set_places(); }
  void run();

 private:
  void set_places();
  void sweep(bool is_down);
  void order_layer(uint32_t layer, const Lists& neighbours);
  uint64_t crossings();
  uint64_t crossings_below(uint32_t layer);
  uint32_t median(std::span<const uint32_t> neighbours);

  Vertices& v_;
  std::vector<uint32_t> places_;  // of vertices in their layers
  std::vector<uint32_t> sorted_;
  std::vector<uint32_t> tree_;
  std::vector<std::pair<uint32_t, uint32_t>> movable_;  // median, vertex
};

void Ordering::set_places() {
  for (uint32_t layer = 0; layer < v_.layer_count; ++layer) {
    const std::span<const uint32_t> cells = v_.cells[layer];
    for (uint32_t i = 0; i < cells.size(); ++i) places_[cells[i]] = i;
  }
}

// Twice the middle place, so that the mean of two has no fraction.
uint32_t Ordering::median(std::span<const uint32_t> neighbours) {
  if (neighbours.size() == 1) return 2 * places_[neighbours[0]];
  sorted_.clear();
  for (const uint32_t neighbour : neighbours) sorted_.push_back(places_[neighbour]);
  std::ranges::sort(sorted_);
  const size_t middle = sorted_.size() / 2;
  return sorted_.size() % 2 == 1 ? 2 * sorted_[middle] : sorted_[middle - 1] + sorted_[middle];
}

void Ordering::order_layer(uint32_t layer, const Lists& neighbours) {
  const uint32_t first = v_.cells.first[layer];
  const uint32_t end = v_.cells.first[layer + 1];
  if (end - first < 2) return;
  movable_.clear();
  for (uint32_t i = first; i < end; ++i) {
    const uint32_t vertex = v_.cells.items[i];
    if (!neighbours[vertex].empty()) movable_.emplace_back(median(neighbours[vertex]), vertex);
  }
  std::ranges::stable_sort(movable_, {}, [](const auto& item) { return item.first; });
  size_t next = 0;
  for (uint32_t i = first; i < end; ++i) {
    uint32_t& vertex = v_.cells.items[i];
    if (!neighbours[vertex].empty()) vertex = movable_[next++].second;
    places_[vertex] = i - first;
  }
}

void Ordering::sweep(bool is_down) {
  for (uint32_t i = 0; i < v_.layer_count; ++i) {
    if (is_down) order_layer(i, v_.above);
    if (!is_down) order_layer(v_.layer_count - 1 - i, v_.below);
  }
}

// Inversions among the ends of lines, counted by a tree of sums.
uint64_t Ordering::crossings_below(uint32_t layer) {
  const std::span<const uint32_t> cells = v_.cells[layer];
  const size_t width = v_.cells[layer + 1].size();
  if (cells.size() < 2 || width < 2) return 0;
  tree_.assign(width + 1, 0);
  uint64_t crossings = 0;
  uint64_t seen = 0;
  for (const uint32_t vertex : cells) {
    for (const uint32_t neighbour : v_.below[vertex]) {
      uint64_t left = 0;
      for (size_t i = places_[neighbour] + 1; i > 0; i -= i & -i) left += tree_[i];
      crossings += seen - left;
    }
    for (const uint32_t neighbour : v_.below[vertex]) {
      for (size_t i = places_[neighbour] + 1; i <= width; i += i & -i) ++tree_[i];
      ++seen;
    }
  }
  return crossings;
}

uint64_t Ordering::crossings() {
  uint64_t sum = 0;
  for (uint32_t layer = 0; layer + 1 < v_.layer_count; ++layer) sum += crossings_below(layer);
  return sum;
}

void Ordering::run() {
  uint64_t least = crossings();
  for (int i = 0; i < kSweeps && least > 0; ++i) {
    const std::vector<uint32_t> before = v_.cells.items;
    sweep(i % 2 == 0);
    const uint64_t now = crossings();
    if (now > least) {
      v_.cells.items = before;
      set_places();
    }
    least = std::min(least, now);
  }
}

}  // namespace

void order_layers(Vertices& vertices) { Ordering(vertices).run(); }

}  // namespace assay::layout
