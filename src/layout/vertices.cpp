#include "layout/vertices.h"

#include <algorithm>

namespace assay::layout {
namespace {

constexpr uint32_t kMostTargets = 8;  // of a wire that is drawn in full
constexpr uint32_t kMostLayers = 40;  // that such a wire spans

class VertexMaker {
 public:
  VertexMaker(const Graph& graph, std::vector<uint32_t> layers) : graph_(graph) { v_.layers = std::move(layers); }
  Vertices run();

 private:
  using Arc = std::pair<uint32_t, uint32_t>;

  std::span<const uint32_t> targets(const Wire& wire) const {
    return std::span(graph_.targets).subspan(wire.first, wire.count);
  }
  void place_boxes();
  uint32_t add(uint32_t layer, uint32_t wire);
  uint32_t layer_of_end(uint32_t target) const { return target == kBorder ? v_.layer_count - 1 : v_.layers[target]; }
  void add_wire(uint32_t wire);
  void join(uint32_t wire, uint32_t source, uint32_t deepest);
  void fill_cells();
  Lists lists(bool is_above) const;

  const Graph& graph_;
  Vertices v_;
  std::vector<Arc> arcs_;         // from one layer to the next
  std::vector<uint32_t> owners_;  // by vertex behind the boxes: the box that its wire comes from
};

// Boxes begin in the second layer where lines come in at the border, and end before the last where lines leave.
void VertexMaker::place_boxes() {
  v_.box_count = static_cast<uint32_t>(graph_.boxes.size());
  bool has_top = false;
  bool has_bottom = false;
  for (const Wire& wire : graph_.wires) {
    has_top |= wire.from == kBorder;
    has_bottom |= std::ranges::find(targets(wire), kBorder) != targets(wire).end();
  }
  uint32_t last = 0;
  for (uint32_t& layer : v_.layers) {
    layer += has_top ? 1 : 0;
    last = std::max(last, layer);
  }
  v_.layer_count = last + (has_bottom ? 2 : 1);
  for (const Box& box : graph_.boxes) {
    v_.widths.push_back(box.width);
    v_.heights.push_back(box.height);
  }
}

uint32_t VertexMaker::add(uint32_t layer, uint32_t wire) {
  owners_.push_back(graph_.wires[wire].from == kBorder ? 0 : graph_.wires[wire].from);
  v_.layers.push_back(layer);
  v_.widths.push_back(0);
  v_.heights.push_back(0);
  return v_.size() - 1;
}

void VertexMaker::add_wire(uint32_t number) {
  const Wire& wire = graph_.wires[number];
  const uint32_t from = wire.from == kBorder ? 0 : v_.layers[wire.from];
  uint32_t deepest = from;
  for (const uint32_t target : targets(wire)) deepest = std::max(deepest, layer_of_end(target));
  if (wire.count > kMostTargets || deepest - from > kMostLayers) {
    v_.rails[number] = 1;
    return;
  }
  if (deepest == from) return;
  if (wire.from == kBorder) v_.start[number] = add(0, number);
  join(number, wire.from == kBorder ? v_.start[number] : wire.from, deepest);
}

void VertexMaker::join(uint32_t number, uint32_t source, uint32_t deepest) {
  const Wire& wire = graph_.wires[number];
  const uint32_t from = v_.layers[source];
  const uint32_t chain = v_.size();
  uint32_t before = source;
  for (uint32_t layer = from + 1; layer < deepest; ++layer) {
    const uint32_t bend = add(layer, number);
    arcs_.emplace_back(before, bend);
    before = bend;
  }
  if (deepest > from + 1) v_.chain[number] = chain;
  for (const uint32_t target : targets(wire)) {
    const uint32_t layer = layer_of_end(target);
    if (layer <= from) continue;  // closes a cycle
    if (target == kBorder) v_.end[number] = add(layer, number);
    arcs_.emplace_back(layer == from + 1 ? source : chain + layer - from - 2,
                       target == kBorder ? v_.end[number] : target);
  }
}

Lists VertexMaker::lists(bool is_above) const {
  Lists result;
  result.first.assign(v_.size() + 1, 0);
  result.items.resize(arcs_.size());
  for (const auto& [up, down] : arcs_) ++result.first[(is_above ? down : up) + 1];
  for (size_t i = 1; i < result.first.size(); ++i) result.first[i] += result.first[i - 1];
  std::vector<uint32_t> next(result.first.begin(), result.first.end());
  for (const auto& [up, down] : arcs_) result.items[next[is_above ? down : up]++] = is_above ? up : down;
  return result;
}

// The order of the file: what belongs to a wire stands where its box does in its own layer.
void VertexMaker::fill_cells() {
  Lists& cells = v_.cells;
  cells.first.assign(v_.layer_count + 1, 0);
  cells.items.resize(v_.size());
  for (const uint32_t layer : v_.layers) ++cells.first[layer + 1];
  for (size_t i = 1; i < cells.first.size(); ++i) cells.first[i] += cells.first[i - 1];
  std::vector<std::pair<uint32_t, uint32_t>> keys(v_.size());
  for (uint32_t vertex = 0; vertex < v_.size(); ++vertex) {
    keys[vertex] = {v_.is_box(vertex) ? vertex : owners_[vertex - v_.box_count], vertex};
  }
  std::ranges::sort(keys);
  std::vector<uint32_t> next(cells.first.begin(), cells.first.end());
  for (const auto& [owner, vertex] : keys) cells.items[next[v_.layers[vertex]]++] = vertex;
}

Vertices VertexMaker::run() {
  place_boxes();
  const size_t wires = graph_.wires.size();
  v_.chain.assign(wires, kBorder);
  v_.start.assign(wires, kBorder);
  v_.end.assign(wires, kBorder);
  v_.rails.assign(wires, 0);
  for (uint32_t wire = 0; wire < wires; ++wire) add_wire(wire);
  v_.above = lists(true);
  v_.below = lists(false);
  fill_cells();
  return std::move(v_);
}

}  // namespace

Vertices make_vertices(const Graph& graph, std::vector<uint32_t> box_layers) {
  return VertexMaker(graph, std::move(box_layers)).run();
}

}  // namespace assay::layout
