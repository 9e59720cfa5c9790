#include "scene/make.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>

#include "base/memory.h"
#include "inspect/model_overview.h"
#include "ir/queries.h"
#include "ir/walk.h"
#include "scene/lines.h"
#include "scene/shown.h"

namespace assay::scene {
namespace {

constexpr size_t kMostLabel = 28;  // characters that a box is made for
constexpr size_t kMostNodeName = 16;
constexpr float kLetter = 7.5F;
constexpr float kSides = 28;
constexpr float kNodeHeight = 28;
constexpr float kGroupHeight = 40;
constexpr float kChipHeight = 12;

class SceneMaker {
 public:
  SceneMaker(const ir::Model& model, Tree tree) : model_(model), tree_(std::move(tree)) {}
  MadeScene run();

 private:
  std::vector<uint32_t> number_items();
  void fill_items(std::span<const uint32_t> order);
  void fill_item(uint32_t item, const Entry& entry);
  void fill_node(uint32_t item, ir::NodeId node);
  void size_item(uint32_t item, const Entry& entry);
  uint16_t operator_id(ir::Symbol op, ir::Symbol domain);
  std::string_view label(const Entry& entry) const;
  struct Source {
    uint32_t item;
    ir::ValueId input;  // of boxes of inputs
  };
  std::vector<Source> take_sources();
  void add_values();
  void add_value(ir::ValueId value, uint32_t producer);
  void add_uses();
  void fill_header();

  const ir::Model& model_;
  Tree tree_;
  std::vector<uint32_t> item_of_;  // by entry of the tree
  std::unordered_map<uint64_t, uint16_t> operators_;
  size_t operand_count_ = 0;
  size_t result_count_ = 0;
  MadeScene made_;
};

uint16_t SceneMaker::operator_id(ir::Symbol op, ir::Symbol domain) {
  const uint64_t key = (uint64_t{op.index} << 32U) | domain.index;
  std::vector<std::string>& names = made_.scene.operators;
  if (names.size() >= results::kNoOperator) return results::kNoOperator;
  const auto [entry, is_new] = operators_.try_emplace(key, static_cast<uint16_t>(names.size()));
  if (is_new) {
    const std::string prefix = domain == ir::kEmpty ? "" : shown(model_.text(domain)) + "::";
    names.push_back(prefix + shown(model_.text(op)));
  }
  return entry->second;
}

std::string_view SceneMaker::label(const Entry& entry) const {
  if (entry.node) return model_[entry.node].name;
  if (entry.value) return model_.text(model_[entry.value].name);
  return entry.label;
}

void SceneMaker::fill_node(uint32_t item, ir::NodeId id) {
  results::SceneItems& items = made_.scene.items;
  const ir::Node& node = model_[id];
  operand_count_ += node.operands.size();
  result_count_ += node.results.size();
  made_.nodes[item] = id;
  made_.item_of_node[id.index] = item;
  items.operators[item] = operator_id(node.op, node.domain);
  const auto is_chip = [&](const ir::Use& use) { return use.value && is_constant(model_, use.value); };
  if (std::ranges::any_of(node.operands, is_chip)) items.flags[item] |= results::kHasConstants;
}

void SceneMaker::size_item(uint32_t item, const Entry& entry) {
  results::SceneItems& items = made_.scene.items;
  size_t letters = std::min(items.names[item].size(), entry.node ? kMostNodeName : kMostLabel);
  if (items.operators[item] != results::kNoOperator) {
    letters = std::max(letters, made_.scene.operators[items.operators[item]].size());
  }
  items.widths[item] = std::round(static_cast<float>(std::clamp<size_t>(letters, 5, kMostLabel)) * kLetter + kSides);
  const bool is_group = !entry.node && !entry.value;
  items.heights[item] = is_group ? kGroupHeight : kNodeHeight;
  if ((items.flags[item] & results::kHasConstants) != 0) items.heights[item] += kChipHeight;
}

void SceneMaker::fill_item(uint32_t item, const Entry& entry) {
  results::SceneItems& items = made_.scene.items;
  items.kinds[item] = static_cast<uint8_t>(entry.kind);
  items.orders[item] = entry.order;
  items.lasts[item] = entry.last;
  items.repeats[item] = entry.repeat;
  if (entry.repeat != kNoItem) items.flags[item] |= results::kIsRepeated;
  add_shown(items.names, item == 0 ? made_.scene.model : label(entry));
  if (entry.node) fill_node(item, entry.node);
  if (entry.node && items.child_counts[item] > 0) items.flags[item] |= results::kHasBodies;
  size_item(item, entry);
}

// Gives the entries level by level, so that children follow each other.
std::vector<uint32_t> SceneMaker::number_items() {
  const Children children = tree_.children();
  std::vector<uint32_t> order = {0};
  std::vector<uint32_t> parents = {kNoItem};
  results::SceneItems& items = made_.scene.items;
  order.reserve(tree_.entries.size());
  parents.reserve(tree_.entries.size());
  items.first_children.reserve(tree_.entries.size());
  items.child_counts.reserve(tree_.entries.size());
  for (uint32_t item = 0; item < order.size(); ++item) {
    const std::span<const uint32_t> list = children[order[item]];
    items.first_children.push_back(list.empty() ? 0 : static_cast<uint32_t>(order.size()));
    items.child_counts.push_back(static_cast<uint32_t>(list.size()));
    order.insert(order.end(), list.begin(), list.end());
    parents.resize(order.size(), item);
  }
  items.parents = std::move(parents);
  return order;
}

// Fills columns but those of places, which draw_groups() sets, and those that types tell.
void SceneMaker::fill_items(std::span<const uint32_t> order) {
  const size_t count = order.size();
  results::SceneItems& items = made_.scene.items;
  items.names.ends.reserve(count);
  items.kinds.resize(count);
  items.operators.assign(count, results::kNoOperator);
  items.flags.resize(count);
  for (std::vector<uint32_t>* column : {&items.orders, &items.lasts, &items.repeats}) column->resize(count);
  for (std::vector<float>* column : {&items.widths, &items.heights}) column->resize(count);
  made_.nodes.resize(count);
  made_.item_of_node.assign(model_.node_slots(), kNoItem);
  item_of_.assign(tree_.entries.size(), kNoItem);
  for (uint32_t item = 0; item < count; ++item) {
    item_of_[order[item]] = item;
    fill_item(item, tree_.entries[order[item]]);
    if ((item + 1) % kBoxesBetweenReleases == 0) release_source(model_);
  }
}

void SceneMaker::add_value(ir::ValueId value, uint32_t producer) {
  results::Scene& scene = made_.scene;
  made_.scene_values[value.index] = static_cast<uint32_t>(made_.values.size());
  made_.values.push_back(value);
  add_shown(scene.value_names, model_.text(model_[value].name));
  scene.value_producers.push_back(producer);
}

// Boxes that values come from, in the order of their entries, which are not needed any longer.
std::vector<SceneMaker::Source> SceneMaker::take_sources() {
  std::vector<Source> sources;
  sources.reserve(tree_.entries.size());
  for (size_t i = 0; i < tree_.entries.size(); ++i) {
    const Entry& entry = tree_.entries[i];
    const bool is_input = entry.kind == ItemKind::input;
    if (item_of_[i] == kNoItem || !(is_input || entry.node)) continue;
    sources.push_back({item_of_[i], is_input ? entry.value : ir::ValueId{}});
  }
  tree_.entries = {};
  return sources;
}

void SceneMaker::add_values() {
  made_.scene_values.assign(model_.value_slots(), kNoItem);
  made_.values.reserve(result_count_);
  made_.scene.value_producers.reserve(result_count_);
  made_.scene.value_names.ends.reserve(result_count_);
  for (const Source& source : take_sources()) {
    if (source.input) add_value(source.input, source.item);
    if (!made_.nodes[source.item]) continue;
    for (const ir::ValueId result : model_[made_.nodes[source.item]].results) {
      if (result) add_value(result, source.item);
    }
  }
  made_.scene.rails.assign(made_.values.size(), 0);
}

void SceneMaker::add_uses() {
  results::Scene& scene = made_.scene;
  struct Found {
    uint32_t item;
    uint16_t slot;
  };
  std::vector<Found> found;
  scene.use_nodes.reserve(operand_count_);
  scene.use_values.reserve(operand_count_);
  scene.use_slots.reserve(operand_count_);
  for (uint32_t value = 0; value < made_.values.size(); ++value) {
    found.clear();
    for (const ir::Use& use : ir::uses(model_, made_.values[value])) {
      const ir::Node& user = model_[use.user];
      uint32_t item = made_.item_of_node[use.user.index];
      if (user.is_outputs) {
        const uint32_t first = tree_.first_output[user.graph.index];
        item = first == kNoItem ? kNoItem : item_of_[first + use.index];
      }
      if (item != kNoItem) found.push_back({item, static_cast<uint16_t>(std::min(use.index, 0xffffu))});
    }
    std::ranges::sort(found, {}, [](const Found& use) { return std::pair(use.item, use.slot); });
    for (const Found& use : found) {
      scene.use_nodes.push_back(use.item);
      scene.use_values.push_back(value);
      scene.use_slots.push_back(use.slot);
    }
  }
}

void SceneMaker::fill_header() {
  results::Scene& scene = made_.scene;
  const ir::Header& header = model_.header();
  const ir::Graph& graph = model_[model_.main_graph()];
  scene.model = shown(model_.text(graph.name));
  scene.producer = header.producer_name + (header.producer_version.empty() ? "" : " " + header.producer_version);
  scene.ir_version = header.ir_version;
  for (const ir::OpsetImport& import : header.opset_imports) {
    if (import.domain == ir::kEmpty) scene.opset = import.version;
  }
  for (const ir::ValueId input : graph.inputs) {
    if (!model_[input].constant) scene.inputs.push_back(inspect::value_info(model_, input));
  }
  for (const ir::Use& output : model_.outputs(model_.main_graph())) {
    scene.outputs.push_back(inspect::value_info(model_, output.value));
  }
  scene.node_count = graph.node_count;
}

MadeScene SceneMaker::run() {
  fill_header();
  fill_items(number_items());
  add_values();
  add_uses();
  tree_ = {};
  return_freed_memory();
  draw_groups(made_.scene);
  return std::move(made_);
}

}  // namespace

void release_source(const ir::Model& model) {
  if (model.source()) model.source()->release(0, model.source()->size());
}

Tree grouped_tree(const ir::Model& model) {
  Tree tree = make_tree(model);
  group_by_scopes(model, tree);
  release_source(model);
  split_groups(model, tree);
  return tree;
}

MadeScene make_boxes(const ir::Model& model, Tree tree) { return SceneMaker(model, std::move(tree)).run(); }

}  // namespace assay::scene
