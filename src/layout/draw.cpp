#include <algorithm>
#include <cmath>

#include "layout/layers.h"
#include "layout/vertices.h"

namespace assay::layout {
namespace {

constexpr float kLayerGap = 32;
constexpr float kColumnGap = 64;
constexpr uint32_t kMostLayers = 60;   // of a graph in one column
constexpr uint32_t kLeastLayers = 20;  // of a column
constexpr double kAspect = 1.6;        // of columns side by side

struct Column {
  uint32_t first_layer = 0;
  uint32_t end_layer = 0;
  float left = 0;  // of its content, before columns are moved beside each other
  float right = 0;
  float shift = 0;
};

class Drawing {
 public:
  Drawing(const Graph& graph, const Vertices& vertices)
      : graph_(graph), v_(vertices), middles_(find_middles(vertices)) {}
  Picture run();

 private:
  void measure_layers();
  void fold();
  void add_column(uint32_t first, uint32_t end);
  void set_tops();
  void place_boxes();
  Point point(uint32_t vertex) const;
  uint32_t layer_of(uint32_t target) const { return target == kBorder ? v_.layer_count - 1 : v_.layers[target]; }
  void draw_wire(uint32_t wire);
  void turn(uint32_t layer, float x);

  const Graph& graph_;
  const Vertices& v_;
  std::vector<float> middles_;
  std::vector<float> heights_;  // by layer
  std::vector<float> tops_;
  std::vector<Column> columns_;
  std::vector<uint32_t> column_of_;  // by layer
  Picture picture_;
};

void Drawing::measure_layers() {
  heights_.assign(v_.layer_count, 0);
  for (uint32_t i = 0; i < v_.size(); ++i) {
    heights_[v_.layers[i]] = std::max(heights_[v_.layers[i]], v_.heights[i]);
  }
}

void Drawing::add_column(uint32_t first, uint32_t end) {
  Column column{.first_layer = first, .end_layer = end};
  bool is_empty = true;
  for (uint32_t layer = first; layer < end; ++layer) {
    column_of_.push_back(static_cast<uint32_t>(columns_.size()));
    for (const uint32_t vertex : v_.cells[layer]) {
      const float left = middles_[vertex] - v_.widths[vertex] / 2;
      const float right = middles_[vertex] + v_.widths[vertex] / 2;
      column.left = is_empty ? left : std::min(column.left, left);
      column.right = is_empty ? right : std::max(column.right, right);
      is_empty = false;
    }
  }
  const float x = columns_.empty() ? 0 : picture_.width + kColumnGap;
  column.shift = x - column.left;
  picture_.width = x + column.right - column.left;
  columns_.push_back(column);
}

// Columns of about the same height; as many as make the picture a little wider than high.
void Drawing::fold() {
  double total = 0;
  double widest = 1;
  for (const float height : heights_) total += height + kLayerGap;
  for (uint32_t layer = 0; layer < v_.layer_count; ++layer) {
    const std::span<const uint32_t> cells = v_.cells[layer];
    if (cells.empty()) continue;
    const double left = middles_[cells.front()] - v_.widths[cells.front()] / 2;
    widest = std::max(widest, middles_[cells.back()] + v_.widths[cells.back()] / 2 - left);
  }
  const uint32_t most = std::max(1u, v_.layer_count / kLeastLayers);
  const double wished = std::sqrt(kAspect * total / (widest + kColumnGap));
  const double count =
      v_.layer_count <= kMostLayers ? 1 : std::clamp(std::round(wished), 1.0, static_cast<double>(most));
  const double column_height = total / count;
  double height = 0;
  uint32_t first = 0;
  for (uint32_t layer = 0; layer < v_.layer_count; ++layer) {
    if (height + heights_[layer] / 2 > column_height && layer > first) {
      add_column(first, layer);
      first = layer;
      height = 0;
    }
    height += heights_[layer] + kLayerGap;
  }
  add_column(first, v_.layer_count);
}

void Drawing::set_tops() {
  tops_.resize(v_.layer_count);
  for (const Column& column : columns_) {
    float top = 0;
    for (uint32_t layer = column.first_layer; layer < column.end_layer; ++layer) {
      tops_[layer] = top;
      top += heights_[layer] + kLayerGap;
    }
    picture_.height = std::max(picture_.height, top - kLayerGap);
  }
}

Point Drawing::point(uint32_t vertex) const {
  const uint32_t layer = v_.layers[vertex];
  return {middles_[vertex] + columns_[column_of_[layer]].shift, tops_[layer] + heights_[layer] / 2};
}

void Drawing::place_boxes() {
  picture_.layers.assign(v_.layers.begin(), v_.layers.begin() + v_.box_count);
  picture_.ranks.resize(v_.box_count);
  picture_.places.resize(v_.box_count);
  for (uint32_t layer = 0; layer < v_.layer_count; ++layer) {
    const std::span<const uint32_t> cells = v_.cells[layer];
    uint32_t rank = 0;
    for (const uint32_t vertex : cells) {
      if (!v_.is_box(vertex)) continue;
      picture_.ranks[vertex] = rank++;
      picture_.places[vertex] = {point(vertex).x - v_.widths[vertex] / 2, tops_[layer]};
    }
  }
}

// The way from the end of a column, at `x`, to the top of the next one, through the gap between the two.
void Drawing::turn(uint32_t layer, float x) {
  const Column& next = columns_[column_of_[layer]];
  const float gap = next.left + next.shift - kColumnGap / 2;
  const float bottom = tops_[layer - 1] + heights_[layer - 1] + kLayerGap / 2;
  picture_.bends.push_back({x, bottom});
  picture_.bends.push_back({gap, bottom});
  picture_.bends.push_back({gap, -kLayerGap / 2});
}

void Drawing::draw_wire(uint32_t number) {
  const Wire& wire = graph_.wires[number];
  const auto start = static_cast<uint32_t>(picture_.bends.size());
  const uint32_t from = wire.from == kBorder ? 0 : v_.layers[wire.from];
  const bool is_rail = v_.rails[number] != 0;
  std::vector<uint32_t> counts(1, 0);  // bends on the way to the layers from `from` on
  if (!is_rail) {
    uint32_t deepest = from;
    for (uint32_t i = 0; i < wire.count; ++i) deepest = std::max(deepest, layer_of(graph_.targets[wire.first + i]));
    uint32_t before = wire.from;
    if (wire.from == kBorder && v_.start[number] != kBorder) {
      before = v_.start[number];
      picture_.bends.push_back(point(before));
    }
    for (uint32_t layer = from + 1; layer <= deepest; ++layer) {
      if (column_of_[layer] != column_of_[layer - 1]) turn(layer, point(before).x);
      counts.push_back(static_cast<uint32_t>(picture_.bends.size()) - start);
      if (layer == deepest) break;
      before = v_.chain[number] + layer - from - 1;
      picture_.bends.push_back(point(before));
    }
    if (v_.end[number] != kBorder) picture_.bends.push_back(point(v_.end[number]));
  }
  for (uint32_t i = 0; i < wire.count; ++i) {
    const uint32_t target = graph_.targets[wire.first + i];
    const uint32_t layer = layer_of(target);
    Line line{.wire = number, .to = target, .bend_start = start};
    if (!is_rail && layer > from) line.bend_count = counts[layer - from];
    if (!is_rail && target == kBorder && v_.end[number] != kBorder) ++line.bend_count;
    picture_.lines.push_back(line);
  }
}

Picture Drawing::run() {
  measure_layers();
  fold();
  set_tops();
  place_boxes();
  picture_.rails = v_.rails;
  for (uint32_t wire = 0; wire < graph_.wires.size(); ++wire) draw_wire(wire);
  picture_.columns = static_cast<uint32_t>(columns_.size());
  return std::move(picture_);
}

}  // namespace

Picture draw(const Graph& graph) {
  if (graph.boxes.empty()) return {};
  Vertices vertices = make_vertices(graph, find_layers(graph));
  order_layers(vertices);
  return Drawing(graph, vertices).run();
}

}  // namespace assay::layout
