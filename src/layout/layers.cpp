#include "layout/layers.h"

#include <algorithm>
#include <span>

namespace assay::layout {
namespace {

class Layering {
 public:
  explicit Layering(const Graph& graph);
  std::vector<uint32_t> run();

 private:
  std::span<const uint32_t> wires_of(uint32_t box) const {
    return std::span(wires_).subspan(first_wire_[box], first_wire_[box + 1] - first_wire_[box]);
  }
  template <typename Fn>
  void for_each_target(uint32_t box, Fn&& fn) const {
    for (const uint32_t wire : wires_of(box)) {
      const Wire& facts = graph_.wires[wire];
      for (uint32_t i = 0; i < facts.count; ++i) {
        const uint32_t target = graph_.targets[facts.first + i];
        if (target != kBorder && target != box) fn(target);
      }
    }
  }
  void finish(uint32_t box);
  void pull(uint32_t box);

  const Graph& graph_;
  std::vector<uint32_t> first_wire_;
  std::vector<uint32_t> wires_;     // by the box they come from
  std::vector<uint32_t> operands_;  // of each box
  std::vector<uint32_t> missing_;   // of them, those whose box has no layer yet
  std::vector<uint32_t> layers_;
  std::vector<bool> is_done_;
  std::vector<uint32_t> order_;
};

Layering::Layering(const Graph& graph)
    : graph_(graph),
      first_wire_(graph.boxes.size() + 1, 0),
      operands_(graph.boxes.size(), 0),
      layers_(graph.boxes.size(), 0),
      is_done_(graph.boxes.size(), false) {
  for (const Wire& wire : graph.wires) {
    if (wire.from != kBorder) ++first_wire_[wire.from + 1];
    for (uint32_t i = 0; i < wire.count; ++i) {
      const uint32_t target = graph.targets[wire.first + i];
      if (target != kBorder && target != wire.from) ++operands_[target];
    }
  }
  for (size_t i = 1; i < first_wire_.size(); ++i) first_wire_[i] += first_wire_[i - 1];
  wires_.resize(first_wire_.back());
  std::vector<uint32_t> next(first_wire_.begin(), first_wire_.end());
  missing_ = operands_;
  for (uint32_t i = 0; i < graph.wires.size(); ++i) {
    const Wire& wire = graph.wires[i];
    if (wire.from != kBorder) {
      wires_[next[wire.from]++] = i;
      continue;
    }
    for (uint32_t k = 0; k < wire.count; ++k) {
      if (graph.targets[wire.first + k] != kBorder) --missing_[graph.targets[wire.first + k]];
    }
  }
}

void Layering::finish(uint32_t box) {
  is_done_[box] = true;
  order_.push_back(box);
  for_each_target(box, [&](uint32_t target) {
    if (!is_done_[target]) layers_[target] = std::max(layers_[target], layers_[box] + 1);
    --missing_[target];
  });
}

// A box with fewer operands than users stands right before the first of them, so that its lines are short.
void Layering::pull(uint32_t box) {
  uint32_t users = 0;
  uint32_t first = kBorder;
  for_each_target(box, [&](uint32_t target) {
    ++users;
    if (layers_[target] > layers_[box]) first = std::min(first, layers_[target]);
  });
  if (first != kBorder && operands_[box] < users) layers_[box] = first - 1;
}

std::vector<uint32_t> Layering::run() {
  const auto count = static_cast<uint32_t>(graph_.boxes.size());
  order_.reserve(count);
  std::vector<uint32_t> ready;
  for (uint32_t box = 0; box < count; ++box) {
    if (missing_[box] == 0) ready.push_back(box);
  }
  uint32_t first_open = 0;
  for (size_t at = 0; order_.size() < count; ++at) {
    if (at == ready.size()) {  // a cycle: it is cut before its first box
      while (is_done_[first_open]) ++first_open;
      ready.push_back(first_open);
    }
    const uint32_t box = ready[at];
    if (is_done_[box]) continue;
    finish(box);
    for_each_target(box, [&](uint32_t target) {
      if (missing_[target] == 0 && !is_done_[target]) ready.push_back(target);
    });
  }
  for (size_t i = count; i-- > 0;) pull(order_[i]);
  return std::move(layers_);
}

}  // namespace

std::vector<uint32_t> find_layers(const Graph& graph) { return Layering(graph).run(); }

}  // namespace assay::layout
