#include "scene/tree.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "ir/queries.h"
#include "ir/topological_sort.h"
#include "ir/walk.h"

namespace assay::scene {
namespace {

// The nodes as they stand where they can run so; else in an order in which they can, if there is one.
std::vector<ir::NodeId> nodes_in_order(const ir::Model& model, ir::GraphId graph) {
  std::vector<ir::NodeId> nodes;
  bool is_sorted = true;
  for (const ir::NodeId node : ir::nodes(model, graph)) {
    nodes.push_back(node);
    for (const ir::Use& use : model[node].operands) {
      const ir::NodeId producer = ir::producer(model, use.value);
      if (producer && model[producer].graph == graph && !model.is_before(producer, node)) is_sorted = false;
    }
  }
  if (is_sorted) return nodes;
  std::optional<ir::GraphOrder> order = ir::TopologicalSort(model).run(graph);
  return order ? std::move(order->nodes) : nodes;
}

// Adds graphs and the bodies in them; those that are still to come are kept on a stack of its own.
class TreeMaker {
 public:
  explicit TreeMaker(const ir::Model& model) : model_(model) {
    tree_.entries.reserve(model.node_slots() + model.node_slots() / 4);
    tree_.item_of_node.assign(model.node_slots(), kNoItem);
    tree_.item_of_input.assign(model.value_slots(), kNoItem);
    tree_.first_output.assign(model.graph_slots(), kNoItem);
  }
  Tree run();

 private:
  struct Level {
    uint32_t entry;
    ir::GraphId graph;
    std::vector<ir::NodeId> nodes;
    size_t next = 0;
  };

  void open(uint32_t entry, ir::GraphId graph);
  void step();
  void open_bodies(uint32_t item, ir::NodeId node);
  void walk();
  void count_calls();
  size_t callee(ir::NodeId node) const;  // kNoItem: none

  const ir::Model& model_;
  Tree tree_;
  uint32_t order_ = 0;
  std::vector<Level> levels_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, size_t> functions_;  // by domain, name and overload
  std::vector<size_t> call_counts_;                                       // by function
  std::vector<bool> is_open_;                                             // has a place already
};

void TreeMaker::open(uint32_t entry, ir::GraphId graph) {
  levels_.push_back({entry, graph, nodes_in_order(model_, graph)});
  for (const ir::ValueId input : model_[graph].inputs) {
    if (model_[input].constant) continue;
    const uint32_t item = tree_.add(entry, ItemKind::input);
    tree_.entries[item].value = input;
    tree_.entries[item].order = tree_.entries[item].last = order_;
    tree_.item_of_input[input.index] = item;
  }
}

void TreeMaker::step() {
  Level& level = levels_.back();
  if (level.next == level.nodes.size()) {
    const std::span<const ir::Use> outputs = model_.outputs(level.graph);
    tree_.first_output[level.graph.index] = static_cast<uint32_t>(tree_.entries.size());
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      const uint32_t item = tree_.add(level.entry, ItemKind::output);
      Entry& entry = tree_.entries[item];
      entry.value = outputs[i].value;
      entry.output = i;
      entry.order = entry.last = order_;
    }
    levels_.pop_back();
    return;
  }
  const ir::NodeId node = level.nodes[level.next++];
  const uint32_t parent = level.entry;
  if (is_chip(model_, node)) return;
  const uint32_t item = tree_.add(parent, ItemKind::node);
  tree_.entries[item].node = node;
  tree_.entries[item].order = tree_.entries[item].last = order_++;
  tree_.item_of_node[node.index] = item;
  open_bodies(item, node);
}

// The graphs of its attributes, and the function that it calls if no other node does.
void TreeMaker::open_bodies(uint32_t item, ir::NodeId node) {
  for (const ir::Attribute& attribute : model_[node].attributes) {
    for (const ir::GraphId body : attribute.graphs()) {
      open(tree_.add(item, ItemKind::body, model_.text(attribute.name())), body);
    }
  }
  const size_t function = callee(node);
  if (function == kNoItem || call_counts_[function] != 1 || is_open_[function]) return;
  is_open_[function] = true;
  const ir::Function& facts = model_.functions()[function];
  open(tree_.add(item, ItemKind::body, model_.text(facts.name)), facts.body);
}

size_t TreeMaker::callee(ir::NodeId id) const {
  const ir::Node& node = model_[id];
  const auto found = functions_.find({node.domain.index, node.op.index, node.overload.index});
  return found == functions_.end() ? kNoItem : found->second;
}

void TreeMaker::count_calls() {
  const std::vector<ir::Function>& functions = model_.functions();
  for (size_t i = 0; i < functions.size(); ++i) {
    functions_.emplace(std::tuple(functions[i].domain.index, functions[i].name.index, functions[i].overload.index), i);
  }
  call_counts_.assign(functions.size(), 0);
  is_open_.assign(functions.size(), false);
  if (functions.empty()) return;
  for (const ir::NodeId node : ir::live_nodes(model_)) {
    if (const size_t function = callee(node); function != kNoItem) ++call_counts_[function];
  }
}

void TreeMaker::walk() {
  while (!levels_.empty()) step();
}

Tree TreeMaker::run() {
  count_calls();
  tree_.add(kNoItem, ItemKind::group);
  open(0, model_.main_graph());
  walk();
  uint32_t others = kNoItem;
  for (size_t i = 0; i < model_.functions().size(); ++i) {
    if (is_open_[i]) continue;
    is_open_[i] = true;
    if (others == kNoItem) others = tree_.add(0, ItemKind::group, "functions");
    const ir::Function& function = model_.functions()[i];
    open(tree_.add(others, ItemKind::body, model_.text(function.name)), function.body);
    walk();
  }
  return std::move(tree_);
}

}  // namespace

uint32_t Tree::add(uint32_t parent, ItemKind kind, std::string_view label) {
  Entry& entry = entries.emplace_back();
  entry.parent = parent;
  entry.kind = kind;
  entry.label = label;
  return static_cast<uint32_t>(entries.size() - 1);
}

// Groups that are added late stand behind their children, so the orders go up from children to parents until the root.
void Tree::set_orders() {
  for (Entry& entry : entries) {
    const bool is_leaf = entry.node.valid() || entry.kind == ItemKind::input || entry.kind == ItemKind::output;
    if (!is_leaf) entry.order = kNoItem, entry.last = 0;
  }
  for (const Entry& entry : entries) {
    if (entry.is_dropped || entry.order == kNoItem || !(entry.node.valid() || entry.value.valid())) continue;
    for (uint32_t at = entry.parent; at != kNoItem; at = entries[at].parent) {
      Entry& group = entries[at];
      if (group.order <= entry.order && group.last >= entry.last) break;
      group.order = std::min(group.order, entry.order);
      group.last = std::max(group.last, entry.last);
    }
  }
}

Children Tree::children() const {
  Children result;
  result.first.assign(entries.size() + 1, 0);
  for (uint32_t i = 1; i < entries.size(); ++i) {
    if (!entries[i].is_dropped) ++result.first[entries[i].parent + 1];
  }
  for (size_t i = 1; i < result.first.size(); ++i) result.first[i] += result.first[i - 1];
  result.items.resize(result.first.back());
  std::vector<uint32_t> next(result.first.begin(), result.first.end() - 1);
  for (uint32_t i = 1; i < entries.size(); ++i) {
    if (!entries[i].is_dropped) result.items[next[entries[i].parent]++] = i;
  }
  // Inputs first, outputs last, the rest by order.
  const auto key = [&](uint32_t item) {
    const Entry& entry = entries[item];
    const int side = entry.kind == ItemKind::input ? 0 : entry.kind == ItemKind::output ? 2 : 1;
    return std::tuple(side, entry.order, item);
  };
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::span list = std::span(result.items).subspan(result.first[i], result.first[i + 1] - result.first[i]);
    if (!std::ranges::is_sorted(list, {}, key)) std::ranges::sort(list, {}, key);
  }
  return result;
}

bool is_chip(const ir::Model& model, ir::NodeId node) { return ir::is_constant_node(model, node); }

bool is_constant(const ir::Model& model, ir::ValueId value) {
  const ir::Value& facts = model[value];
  if (facts.constant) return true;
  return facts.producer.valid() && is_chip(model, facts.producer);
}

Tree make_tree(const ir::Model& model) { return TreeMaker(model).run(); }

}  // namespace assay::scene
