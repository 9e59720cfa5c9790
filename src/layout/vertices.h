#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "layout/graph.h"

namespace assay::layout {

// Lists of numbers by owner, one behind the other.
struct Lists {
  std::vector<uint32_t> first;  // by owner, and the end
  std::vector<uint32_t> items;

  std::span<const uint32_t> operator[](size_t owner) const {
    return std::span(items).subspan(first[owner], first[owner + 1] - first[owner]);
  }
};

// The graph with a vertex wherever a line crosses a layer: boxes first, then bends and ends of lines at the border.
// Wires between vertices join neighbouring layers only.
struct Vertices {
  uint32_t box_count = 0;
  uint32_t layer_count = 0;
  std::vector<uint32_t> layers;  // by vertex
  std::vector<float> widths;
  std::vector<float> heights;
  Lists above;  // neighbours in the layer before
  Lists below;
  Lists cells;  // by layer: its vertices, from left to right; the others of a wire stand where its box would

  // Vertices of each wire; kBorder: there is none.
  std::vector<uint32_t> chain;  // the first of its bends, which follow each other
  std::vector<uint32_t> start;  // end at the upper border
  std::vector<uint32_t> end;    // end at the lower border
  std::vector<uint8_t> rails;

  bool is_box(uint32_t vertex) const { return vertex < box_count; }
  uint32_t size() const { return static_cast<uint32_t>(layers.size()); }
};

Vertices make_vertices(const Graph& graph, std::vector<uint32_t> box_layers);

// Orders the vertices of each layer so that lines cross little, starting from the order that they have.
void order_layers(Vertices& vertices);

// The horizontal middle of each vertex: lines are straight where they can be, and no two vertices overlap.
std::vector<float> find_middles(const Vertices& vertices);

}  // namespace assay::layout
