#include "scene/make.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "analysis/cost.h"
#include "base/text.h"
#include "inspect/model_overview.h"
#include "ir/queries.h"
#include "ir/walk.h"
#include "scene/lines.h"

namespace assay::scene {
namespace {

constexpr size_t kMostText = 1000;  // bytes of a name or a type
constexpr size_t kMostLabel = 28;   // characters that a box is made for
constexpr size_t kMostNodeName = 16;
constexpr float kLetter = 7.5F;
constexpr float kSides = 28;
constexpr float kNodeHeight = 28;
constexpr float kGroupHeight = 40;
constexpr float kChipHeight = 12;
constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

// Text that a page can show: UTF-8, and not too long.
std::string shown(std::string_view text) {
  if (text.size() > kMostText) {
    text = text.substr(0, kMostText);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.remove_suffix(1);
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0U) text.remove_suffix(1);
    return shown(text) + "…";
  }
  return is_utf8(text) ? std::string(text) : printable(text);
}

double number(const ops::Dim& dim) {
  const std::optional<int64_t> value = dim.number();
  return value ? static_cast<double>(*value) : kNotKnown;
}

// `float32[1,64,56,56]`
std::string type_text(const ops::Type& type) {
  if (!type.known) return "";
  std::string text = type.text();
  std::erase(text, ' ');
  return text;
}

// A constant as an operand: its place, shape and type.
std::string chip_text(const ir::Model& model, const ops::Inference& inference, const ir::Use& use) {
  const ir::Value& value = model[use.value];
  std::string text = shown(model.text(value.name));
  if (value.constant && !model[value.constant].sparse) {
    const tensor::Tensor& tensor = model[value.constant].tensor;
    text += ' ';
    for (size_t i = 0; i < tensor.shape().size(); ++i) text += (i > 0 ? "x" : "") + std::to_string(tensor.shape()[i]);
    return text + (tensor.shape().empty() ? "" : " ") + std::string(tensor::name(tensor.dtype()));
  }
  return text + " " + type_text(inference.type(use.value));
}

void add_shown(results::TextColumn& column, std::string_view text) {
  if (text.size() <= kMostText && is_utf8(text)) return column.add(text);
  column.add(shown(text));
}

// Numbers types; each text is made once.
class TypeNumbers {
 public:
  explicit TypeNumbers(results::TextColumn& texts) : texts_(texts) {}
  uint32_t of(const ops::Type& type);

 private:
  uint32_t of_text(const std::string& text);

  results::TextColumn& texts_;
  std::unordered_map<std::string, uint32_t> by_text_;
  std::unordered_map<std::string, uint32_t> by_numbers_;  // bytes of element type and dims
  std::string key_;
};

uint32_t TypeNumbers::of_text(const std::string& text) {
  const auto [entry, is_new] = by_text_.try_emplace(text, static_cast<uint32_t>(texts_.size()));
  if (is_new) add_shown(texts_, text);
  return entry->second;
}

uint32_t TypeNumbers::of(const ops::Type& type) {
  const auto is_number = [](const ops::Dim& dim) { return dim.is_number(); };
  if (!type.is_tensor() || !type.dims || !std::ranges::all_of(*type.dims, is_number)) return of_text(type_text(type));
  key_.assign(1, static_cast<char>(type.dtype));
  for (const ops::Dim& dim : *type.dims) {
    const int64_t number = *dim.number();
    key_.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  const auto found = by_numbers_.find(key_);
  if (found != by_numbers_.end()) return found->second;
  return by_numbers_.try_emplace(key_, of_text(type_text(type))).first->second;
}

class SceneMaker {
 public:
  SceneMaker(const ir::Model& model, const ops::Inference& inference, Tree tree)
      : model_(model), inference_(inference), tree_(std::move(tree)), types_(made_.scene.types) {}
  MadeScene run();

 private:
  void number_items();
  void fill_item(uint32_t item, const Entry& entry);
  void fill_node(uint32_t item, ir::NodeId node);
  bool is_clutter(ir::NodeId node) const;
  double bytes_of(ir::ValueId value) const;
  void size_item(uint32_t item, const Entry& entry);
  uint16_t operator_id(ir::Symbol op, ir::Symbol domain);
  std::string_view label(const Entry& entry) const;
  void sum_up();
  void add_values();
  void add_value(ir::ValueId value, uint32_t producer);
  void add_uses();
  void fill_header();

  const ir::Model& model_;
  const ops::Inference& inference_;
  Tree tree_;
  std::vector<uint32_t> item_of_;  // by entry of the tree
  std::unordered_map<uint64_t, uint16_t> operators_;
  MadeScene made_;
  TypeNumbers types_;
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

double SceneMaker::bytes_of(ir::ValueId value) const {
  return number(analysis::value_bytes(model_, inference_, value));
}

// Small whole numbers from which shapes are computed.
bool SceneMaker::is_clutter(ir::NodeId node) const {
  for (const ir::ValueId result : model_[node].results) {
    if (!result) continue;
    const ops::Type& type = inference_.type(result);
    if (!type.is_tensor() || type.dtype != tensor::DType::int64 || !type.dims || type.dims->size() > 1) return false;
    const bool is_short = type.dims->empty() || (type.dims->front().number() && *type.dims->front().number() <= 16);
    if (!is_short) return false;
  }
  return !model_[node].results.empty();
}

void SceneMaker::fill_node(uint32_t item, ir::NodeId id) {
  results::SceneItems& items = made_.scene.items;
  const ir::Node& node = model_[id];
  made_.nodes[item] = id;
  made_.item_of_node[id.index] = item;
  items.operators[item] = operator_id(node.op, node.domain);
  if (is_clutter(id)) items.flags[item] |= results::kIsClutter;
  items.macs[item] = number(inference_.macs(id));
  for (const ir::Use& use : node.operands) {
    if (!use.value || !is_constant(model_, use.value)) continue;
    items.flags[item] |= results::kHasConstants;
    made_.scene.chip_items.push_back(item);
    made_.scene.chips.add(chip_text(model_, inference_, use));
    const ir::TensorId constant = model_[use.value].constant;
    if (constant) items.params[item] += static_cast<double>(model_[constant].tensor.count());
  }
  for (const ir::ValueId result : node.results) {
    if (result) items.bytes[item] += bytes_of(result);
  }
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
  if (entry.kind == ItemKind::input) items.bytes[item] = bytes_of(entry.value);
  size_item(item, entry);
}

// Level by level, so that children follow each other.
void SceneMaker::number_items() {
  const std::vector<std::vector<uint32_t>> children = tree_.children();
  std::vector<uint32_t> order = {0};
  std::vector<uint32_t> parents = {kNoItem};
  results::SceneItems& items = made_.scene.items;
  for (uint32_t item = 0; item < order.size(); ++item) {
    const std::vector<uint32_t>& list = children[order[item]];
    items.first_children.push_back(list.empty() ? 0 : static_cast<uint32_t>(order.size()));
    items.child_counts.push_back(static_cast<uint32_t>(list.size()));
    order.insert(order.end(), list.begin(), list.end());
    parents.resize(order.size(), item);
  }
  const size_t count = order.size();
  items.parents = std::move(parents);
  items.kinds.resize(count);
  items.operators.assign(count, results::kNoOperator);
  items.flags.resize(count);
  for (std::vector<uint32_t>* column : {&items.orders, &items.lasts, &items.layers, &items.ranks, &items.repeats}) {
    column->resize(count);
  }
  for (std::vector<float>* column :
       {&items.x, &items.y, &items.widths, &items.heights, &items.content_widths, &items.content_heights}) {
    column->resize(count);
  }
  for (std::vector<double>* column : {&items.macs, &items.params, &items.bytes}) column->resize(count);
  made_.nodes.resize(count);
  made_.item_of_node.assign(model_.node_slots(), kNoItem);
  item_of_.assign(tree_.entries.size(), kNoItem);
  for (uint32_t item = 0; item < count; ++item) {
    item_of_[order[item]] = item;
    fill_item(item, tree_.entries[order[item]]);
  }
}

// Groups have the sums of what is in them, as far as it is known.
void SceneMaker::sum_up() {
  results::SceneItems& items = made_.scene.items;
  for (size_t item = items.size(); item-- > 1;) {
    const uint32_t parent = items.parents[item];
    for (std::vector<double>* column : {&items.macs, &items.params, &items.bytes}) {
      if (!std::isnan((*column)[item])) (*column)[parent] += (*column)[item];
    }
  }
}

void SceneMaker::add_value(ir::ValueId value, uint32_t producer) {
  results::Scene& scene = made_.scene;
  made_.scene_values[value.index] = static_cast<uint32_t>(made_.values.size());
  made_.values.push_back(value);
  add_shown(scene.value_names, model_.text(model_[value].name));
  scene.value_types.push_back(types_.of(inference_.type(value)));
  scene.value_producers.push_back(producer);
}

void SceneMaker::add_values() {
  made_.scene_values.assign(model_.value_slots(), kNoItem);
  for (const Entry& entry : tree_.entries) {
    const uint32_t item = item_of_[static_cast<size_t>(&entry - tree_.entries.data())];
    if (item == kNoItem) continue;
    if (entry.kind == ItemKind::input) add_value(entry.value, item);
    if (!entry.node) continue;
    for (const ir::ValueId result : model_[entry.node].results) {
      if (result) add_value(result, item);
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
  number_items();
  sum_up();
  add_values();
  add_uses();
  tree_ = {};
  draw_groups(made_.scene);
  return std::move(made_);
}

}  // namespace

Tree grouped_tree(const ir::Model& model) {
  Tree tree = make_tree(model);
  group_by_scopes(model, tree);
  if (model.source()) model.source()->release(0, model.source()->size());  // all nodes were looked at there
  split_groups(model, tree);
  return tree;
}

MadeScene make_scene(const ir::Model& model, const ops::Inference& inference, Tree tree) {
  return SceneMaker(model, inference, std::move(tree)).run();
}

}  // namespace assay::scene
