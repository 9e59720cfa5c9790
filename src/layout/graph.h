#pragma once

#include <cstdint>
#include <vector>

namespace assay::layout {

// Stands for the border of the picture, where lines come in at the top and leave at the bottom.
inline constexpr uint32_t kBorder = 0xffffffff;

struct Box {
  float width = 0;
  float height = 0;
};

// One value: from a box, or kBorder, to `count` of the graph's targets, all different.
struct Wire {
  uint32_t from = kBorder;
  uint32_t first = 0;
  uint32_t count = 0;
};

// Boxes in the order of their file, and what joins them; cycles are allowed.
struct Graph {
  std::vector<Box> boxes;
  std::vector<Wire> wires;
  std::vector<uint32_t> targets;  // boxes, or kBorder
};

struct Point {
  float x = 0;
  float y = 0;
  bool operator==(const Point&) const = default;
};

// The way of a wire to one of its targets; lines of a wire share their bends.
struct Line {
  uint32_t wire = 0;
  uint32_t to = kBorder;
  uint32_t bend_start = 0;
  uint32_t bend_count = 0;
};

// Layers, places and lines. Boxes of a layer stand beside each other, in the order of their ranks; lines go from a
// layer to a later one, except those that close a cycle, and from column to column where the graph is deep.
struct Picture {
  std::vector<uint32_t> layers;  // by box
  std::vector<uint32_t> ranks;
  std::vector<Point> places;   // left and top
  std::vector<uint8_t> rails;  // by wire: 1: too long, or to too many boxes, to be drawn in full
  std::vector<Line> lines;     // in the order of wires and targets
  std::vector<Point> bends;
  float width = 0;
  float height = 0;
  uint32_t columns = 1;
};

// Draws a graph in layers. Linear but for the counting of crossings, without recursion; the same graph gives the same
// picture.
Picture draw(const Graph& graph);

}  // namespace assay::layout
