#include <algorithm>

#include "layout/vertices.h"

namespace assay::layout {
namespace {

constexpr float kBoxGap = 24;
constexpr float kBendGap = 12;
constexpr float kBendWeight = 8;  // of a bend beside a box: long lines are straight
constexpr int kSweeps = 2;

class Middles {
 public:
  explicit Middles(const Vertices& vertices) : v_(vertices), middles_(vertices.size()) {}
  std::vector<float> run();

 private:
  // Vertices that touch each other and move as one.
  struct Block {
    float weight;
    double sum;  // of wished places, weighted
    uint32_t count;
    double place() const { return sum / weight; }
  };

  float distance(uint32_t left, uint32_t right) const {
    const float gap = v_.is_box(left) || v_.is_box(right) ? kBoxGap : kBendGap;
    return (v_.widths[left] + v_.widths[right]) / 2 + gap;
  }
  void pack();
  float wish(uint32_t vertex, const Lists& neighbours);
  void place_layer(uint32_t layer, const Lists& neighbours);
  void shift_to_zero();

  const Vertices& v_;
  std::vector<float> middles_;
  std::vector<Block> blocks_;
  std::vector<float> offsets_;
  std::vector<float> sorted_;
};

void Middles::pack() {
  for (uint32_t layer = 0; layer < v_.layer_count; ++layer) {
    const std::span<const uint32_t> cells = v_.cells[layer];
    for (size_t i = 1; i < cells.size(); ++i) {
      middles_[cells[i]] = middles_[cells[i - 1]] + distance(cells[i - 1], cells[i]);
    }
  }
}

float Middles::wish(uint32_t vertex, const Lists& neighbours) {
  const std::span<const uint32_t> all = neighbours[vertex];
  if (all.empty()) return middles_[vertex];
  if (all.size() == 1) return middles_[all[0]];
  if (!v_.is_box(vertex)) {  // the bends of a line keep together
    const auto bend = std::ranges::find_if(all, [&](uint32_t neighbour) { return !v_.is_box(neighbour); });
    if (bend != all.end()) return middles_[*bend];
  }
  sorted_.clear();
  for (const uint32_t neighbour : all) sorted_.push_back(middles_[neighbour]);
  std::ranges::sort(sorted_);
  const size_t middle = sorted_.size() / 2;
  return sorted_.size() % 2 == 1 ? sorted_[middle] : (sorted_[middle - 1] + sorted_[middle]) / 2;
}

// The places nearest to the wished ones (by least squares) at which nothing overlaps: neighbours that would are joined
// to blocks, from left to right.
void Middles::place_layer(uint32_t layer, const Lists& neighbours) {
  const std::span<const uint32_t> cells = v_.cells[layer];
  blocks_.clear();
  offsets_.assign(cells.size(), 0);
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) offsets_[i] = offsets_[i - 1] + distance(cells[i - 1], cells[i]);
    const float weight = v_.is_box(cells[i]) ? 1 : kBendWeight;
    blocks_.push_back({weight, static_cast<double>(weight) * (wish(cells[i], neighbours) - offsets_[i]), 1});
    while (blocks_.size() > 1 && blocks_[blocks_.size() - 2].place() >= blocks_.back().place()) {
      const Block last = blocks_.back();
      blocks_.pop_back();
      blocks_.back().weight += last.weight;
      blocks_.back().sum += last.sum;
      blocks_.back().count += last.count;
    }
  }
  size_t at = 0;
  for (const Block& block : blocks_) {
    for (uint32_t i = 0; i < block.count; ++i, ++at) {
      middles_[cells[at]] = static_cast<float>(block.place()) + offsets_[at];
    }
  }
}

void Middles::shift_to_zero() {
  float least = 0;
  for (uint32_t i = 0; i < v_.size(); ++i) {
    const float left = middles_[i] - v_.widths[i] / 2;
    least = i == 0 ? left : std::min(least, left);
  }
  for (float& middle : middles_) middle -= least;
}

std::vector<float> Middles::run() {
  pack();
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (uint32_t layer = 1; layer < v_.layer_count; ++layer) place_layer(layer, v_.above);
    for (uint32_t layer = v_.layer_count - 1; layer-- > 0;) place_layer(layer, v_.below);
  }
  shift_to_zero();
  return std::move(middles_);
}

}  // namespace

std::vector<float> find_middles(const Vertices& vertices) { return Middles(vertices).run(); }

}  // namespace assay::layout
