#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/model_listing.h"
#include "results/tensor_stats.h"

namespace assay::results {

// Stands in columns of numbers of items for none, and in lines for the border of a group.
inline constexpr uint32_t kNoItem = 0xffffffff;
inline constexpr uint16_t kNoOperator = 0xffff;

// Texts joined to one, with the place where each ends.
struct TextColumn {
  std::string text;
  std::vector<uint32_t> ends;

  void add(std::string_view item) {
    text += item;
    ends.push_back(static_cast<uint32_t>(text.size()));
  }
  size_t size() const { return ends.size(); }
  std::string_view operator[](size_t index) const {
    const uint32_t begin = index == 0 ? 0 : ends[index - 1];
    return std::string_view(text).substr(begin, ends[index] - begin);
  }
};

// The kinds of boxes.
enum class ItemKind : uint8_t { group, node, input, output, body, repeat };

inline constexpr uint8_t kHasBodies = 1;
inline constexpr uint8_t kIsClutter = 2;  // computes shapes
inline constexpr uint8_t kHasConstants = 4;
inline constexpr uint8_t kIsRepeated = 8;

// Boxes, column by column; 0 is the whole model, and the children of each follow each other.
struct SceneItems {
  std::vector<uint32_t> parents;
  std::vector<uint8_t> kinds;
  std::vector<uint16_t> operators;
  std::vector<uint8_t> flags;
  std::vector<uint32_t> first_children;
  std::vector<uint32_t> child_counts;
  std::vector<uint32_t> orders;  // of execution; of a group that of its first node
  std::vector<uint32_t> lasts;   // likewise of its last node
  std::vector<uint32_t> layers;  // in the graph of the parent
  std::vector<uint32_t> ranks;   // in the layer
  std::vector<float> x;          // in the parent, while all of its children are closed
  std::vector<float> y;
  std::vector<float> widths;  // while it is closed
  std::vector<float> heights;
  std::vector<float> content_widths;  // while it is open and its children are closed
  std::vector<float> content_heights;
  std::vector<uint32_t> repeats;  // class of equal groups
  std::vector<double> macs;       // NaN: not known
  std::vector<double> params;
  std::vector<double> bytes;  // of outputs
  TextColumn names;

  size_t size() const { return parents.size(); }
};

// Lines in the picture of each group; from or to kNoItem is the border of the group.
struct SceneLines {
  std::vector<uint32_t> values;
  std::vector<uint32_t> from;
  std::vector<uint32_t> to;
  std::vector<uint32_t> bend_starts;
  std::vector<uint16_t> bend_counts;
  std::vector<float> bends_x;
  std::vector<float> bends_y;
};

// A model as boxes and lines.
struct Scene {
  std::string file;
  std::string model;
  std::string producer;
  int64_t ir_version = 0;
  std::optional<int64_t> opset;
  uint64_t node_count = 0;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<std::string> operators;
  SceneItems items;
  std::vector<uint32_t> chip_items;
  TextColumn chips;  // constants of nodes
  TextColumn value_names;
  TextColumn types;                       // all different
  std::vector<uint32_t> value_types;      // by value
  std::vector<uint32_t> value_producers;  // items
  std::vector<uint8_t> rails;             // by value: drawn as stubs with its name
  SceneLines lines;
  std::vector<uint32_t> use_nodes;  // consumers, sorted by value
  std::vector<uint32_t> use_values;
  std::vector<uint16_t> use_slots;
};

// An operand or a result of a node.
struct NodePort {
  uint32_t value = kNoItem;  // number of the value; those of constants are behind those of the scene
  std::string name;
  std::string type;
  bool is_constant = false;
};

// Facts of one box that are told when it is looked at.
struct NodeFacts {
  std::string name;
  std::string op;
  std::string domain;
  std::string doc;
  std::vector<AttributeListing> attributes;
  std::vector<NodePort> inputs;
  std::vector<NodePort> outputs;
  std::vector<std::pair<std::string, std::string>> metadata;
  double macs = std::numeric_limits<double>::quiet_NaN();
  double params = 0;
  double bytes = 0;
  std::string source;  // place in the file
};

}  // namespace assay::results
