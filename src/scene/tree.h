#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/model.h"
#include "results/scene.h"

namespace assay::scene {

using results::ItemKind;
using results::kNoItem;

// A box while the scene is made; its place among its siblings is that of its first node in the order of execution.
struct Entry {
  std::string_view label;  // of groups; lives as long as the tree or the model
  uint32_t parent = kNoItem;
  ir::NodeId node;
  ir::ValueId value;    // of inputs and outputs
  uint32_t output = 0;  // of outputs: the place among those of the graph
  uint32_t order = kNoItem;
  uint32_t last = 0;
  uint32_t repeat = kNoItem;  // class of equal groups
  ItemKind kind = ItemKind::group;
  bool is_dropped = false;
};

// The children of each entry, in order, one list behind the other.
struct Children {
  std::vector<uint32_t> first;  // by entry, and the end
  std::vector<uint32_t> items;

  size_t size() const { return first.size() - 1; }
  std::span<const uint32_t> operator[](size_t entry) const {
    return std::span(items).subspan(first[entry], first[entry + 1] - first[entry]);
  }
};

// Boxes in boxes; the first one is the whole model.
class Tree {
 public:
  std::vector<Entry> entries;
  std::vector<uint32_t> item_of_node;   // entries, by node id
  std::vector<uint32_t> item_of_input;  // entries, by id of an input's value
  std::vector<uint32_t> first_output;   // of each graph; its outputs follow each other

  uint32_t add(uint32_t parent, ItemKind kind, std::string_view label = {});
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }
  Children children() const;
  // Sets the orders of groups from those of their nodes.
  void set_orders();

 private:
  std::deque<std::string> texts_;
};

// True if the node is shown as a constant of those that use it.
bool is_chip(const ir::Model& model, ir::NodeId node);
// True if the value is shown so.
bool is_constant(const ir::Model& model, ir::ValueId value);

// All graphs of the model: bodies in their nodes, functions as groups of their own.
Tree make_tree(const ir::Model& model);
// Groups from what exporters note about nodes, and from names.
void group_by_scopes(const ir::Model& model, Tree& tree);
// Groups of equal parts where names say nothing, and cuts until no group has too many children.
void split_groups(const ir::Model& model, Tree& tree);

}  // namespace assay::scene
